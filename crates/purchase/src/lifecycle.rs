//! The state of a purchase. Each state carries only the data that is true in it.

use chrono::{DateTime, Utc};

use vend::Capabilities;

use crate::Timing;
use crate::timing::{after, before};

/// Which side settles doubt about the purchases of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handling {
    /// The integrator: it asks what became of the purchase (a *retry*), and a question may cause an enquiry or a repeat.
    SelfManaged,
    /// The seller's worker. It attempts again in the background, and refunds when all attempts failed.
    Managed,
}

impl Handling {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::SelfManaged, Self::Managed];

    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SelfManaged => "SELF_MANAGED",
            Self::Managed => "MANAGED",
        }
    }

    /// The mode of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|handling| handling.as_str() == name)
    }
}

/// A number that every claim and every further send raises. A process that acts under an older fence has been
/// replaced. What was learnt before a send says nothing about the copy that was sent then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub i64);

impl Fence {
    /// The fence that a reserve gives to its own confirm.
    pub const FIRST: Self = Self(1);

    /// The next fence.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The data of an attempt whose outcome is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize, ::serde::Deserialize), serde(deny_unknown_fields))]
pub struct Sending {
    /// How many times the order of this attempt may have been sent. Counted before each send.
    pub copies: u16,
    /// When the latest copy was recorded.
    pub last_sent_at: DateTime<Utc>,
    /// When the sender of the latest copy reported that its request was over. `None` while the request is in
    /// progress, and for ever if the sender vanished.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub ended_at: Option<DateTime<Utc>>,
    /// By when the requests of all earlier copies were over. `None` if there is only one copy.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub earlier_ended_by: Option<DateTime<Utc>>,
    /// When the first answer of "no record" that counts was recorded.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub no_record_since: Option<DateTime<Utc>>,
}

impl Sending {
    /// The first copy of a new attempt.
    pub const fn first(at: DateTime<Utc>) -> Self {
        Self { copies: 1, last_sent_at: at, ended_at: None, earlier_ended_by: None, no_record_since: None }
    }

    /// One more copy of the same order.
    #[must_use]
    pub fn repeated(&self, at: DateTime<Utc>, timing: &Timing) -> Self {
        let earlier_ended_by = Some(self.ended_by(timing));
        Self { copies: self.copies.saturating_add(1), earlier_ended_by, ..Self::first(at) }
    }

    /// The provider has shown that it knows the order, so an earlier "no record" does not count.
    #[must_use]
    pub const fn known_of(self) -> Self {
        Self { no_record_since: None, ..self }
    }

    /// The sender of the latest copy has reported that its request is over.
    #[must_use]
    pub fn ended(self, at: DateTime<Utc>) -> Self {
        Self { ended_at: Some(at), ..self }
    }

    /// By when the request of every copy is over: when its end was reported, or else at its deadline.
    fn ended_by(&self, timing: &Timing) -> DateTime<Utc> {
        let deadline = after(self.last_sent_at, timing.longest_send());
        let latest = self.ended_at.unwrap_or(deadline);
        self.earlier_ended_by.map_or(latest, |earlier| earlier.max(latest))
    }

    /// From when on "no record" counts: every request is over, and the provider no longer acts on an order that was
    /// sent at the last moment of the gate.
    pub fn quarantined_until(&self, declared: &Capabilities, timing: &Timing) -> DateTime<Utc> {
        let settled = after(self.last_sent_at, timing.gate.saturating_add(declared.settles_within));
        settled.max(self.ended_by(timing))
    }
}

/// A purchase is open until it is `Successful` or `Failed`. These two states never change again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// A sender is at work, or died while it was sending.
    InFlight(Sending),
    /// No process is sending, and the outcome of what was sent is unknown.
    InDoubt(Sending),
    /// The provider is proven not to have vended; another attempt is due. Managed accounts only.
    RetryDue,
    /// As in doubt, but nothing is sent any more, and an operator may decide.
    Review(Sending),
    /// Vended and paid.
    Successful {
        /// The provider's identifier of the vend that was paid for.
        provider_transaction: String,
    },
    /// Proven not to have been vended, and not paid.
    Failed,
}

/// The name of a state, without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateName {
    /// [`State::InFlight`].
    InFlight,
    /// [`State::InDoubt`].
    InDoubt,
    /// [`State::RetryDue`].
    RetryDue,
    /// [`State::Review`].
    Review,
    /// [`State::Successful`].
    Successful,
    /// [`State::Failed`].
    Failed,
}

impl StateName {
    /// Every state, the open ones first.
    pub const ALL: [Self; 6] =
        [Self::InFlight, Self::InDoubt, Self::RetryDue, Self::Review, Self::Successful, Self::Failed];

    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InFlight => "IN_FLIGHT",
            Self::InDoubt => "IN_DOUBT",
            Self::RetryDue => "RETRY_DUE",
            Self::Review => "REVIEW",
            Self::Successful => "SUCCESSFUL",
            Self::Failed => "FAILED",
        }
    }

    /// The state of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Whether money is held in this state.
    pub const fn is_open(self) -> bool {
        match self {
            Self::InFlight | Self::InDoubt | Self::RetryDue | Self::Review => true,
            Self::Successful | Self::Failed => false,
        }
    }
}

impl State {
    /// The data of the current attempt, if its outcome is open.
    pub const fn sending(&self) -> Option<&Sending> {
        match self {
            Self::InFlight(sending) | Self::InDoubt(sending) | Self::Review(sending) => Some(sending),
            Self::RetryDue | Self::Successful { .. } | Self::Failed => None,
        }
    }

    /// The name of this state.
    pub const fn name(&self) -> StateName {
        match self {
            Self::InFlight(_) => StateName::InFlight,
            Self::InDoubt(_) => StateName::InDoubt,
            Self::RetryDue => StateName::RetryDue,
            Self::Review(_) => StateName::Review,
            Self::Successful { .. } => StateName::Successful,
            Self::Failed => StateName::Failed,
        }
    }
}

/// Everything about a purchase that decides what may happen to it next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifecycle {
    /// Which side settles doubt.
    pub handling: Handling,
    /// The current state.
    pub state: State,
    /// The current fence.
    pub fence: Fence,
    /// Until when, by the database's clock, no other process may take the purchase over from the holder of the fence.
    /// `None` when no process holds it.
    pub lease_until: Option<DateTime<Utc>>,
    /// When it was last claimed, by the database's clock. No enquiry of that holder began earlier. `None` before the
    /// first claim.
    pub claimed_at: Option<DateTime<Utc>>,
    /// When an integrator last took the turn to ask about it. `None` before the first turn. A look of the worker
    /// takes no turn, so that a client that asks when it was told to does not find its turn taken.
    pub asked_at: Option<DateTime<Utc>>,
    /// The number of the current attempt, from 1.
    pub attempt: u16,
    /// The number of vend requests after the first, over all attempts.
    pub requests: u8,
    /// From when on nothing may be sent any more.
    pub window_closes_at: DateTime<Utc>,
}

impl Lifecycle {
    /// A purchase as its reserve writes it: the money is held, the first copy is recorded, and the sender is at work.
    pub fn reserved(handling: Handling, at: DateTime<Utc>, timing: &Timing) -> Self {
        Self {
            handling,
            state: State::InFlight(Sending::first(at)),
            fence: Fence::FIRST,
            lease_until: Some(after(at, timing.lease)),
            claimed_at: None,
            asked_at: None,
            attempt: 1,
            requests: 0,
            window_closes_at: after(at, timing.window),
        }
    }

    /// Whether a process holds it at this time of the database's clock.
    pub fn is_leased(&self, at: DateTime<Utc>) -> bool {
        self.lease_until.is_some_and(|until| at < until)
    }

    /// Whether no process but the confirm that reserved it has acted on it. A process that takes it over raises the
    /// fence.
    pub fn is_unclaimed(&self) -> bool {
        self.fence == Fence::FIRST
    }

    /// Whether another vend request may be made. Only a managed purchase has a limit.
    pub const fn has_requests_left(&self) -> bool {
        match self.handling {
            Handling::SelfManaged => true,
            Handling::Managed => self.requests < Timing::MANAGED_REQUESTS_MAX,
        }
    }

    /// When its first order was recorded.
    pub(crate) fn first_sent_at(&self, timing: &Timing) -> DateTime<Utc> {
        before(self.window_closes_at, timing.window)
    }

    /// Whether an integrator's question may cause an enquiry now. However many integrators ask, one enquiry is made
    /// in each `enquiry_gap`.
    pub fn may_be_asked_about(&self, at: DateTime<Utc>, timing: &Timing) -> bool {
        self.asked_at.is_none_or(|asked| after(asked, timing.enquiry_gap) <= at)
    }

    /// The purchase after an integrator took the turn to ask at `at`. A turn needs no lease. `None` if the purchase
    /// has ended, if `fence` is not its current fence, or if another turn was taken within the last `enquiry_gap`.
    pub fn asked_about(&self, fence: Fence, at: DateTime<Utc>, timing: &Timing) -> Option<Self> {
        let may_ask =
            self.state.name().is_open() && self.fence == fence && self.may_be_asked_about(at, timing);
        may_ask.then(|| Self { asked_at: Some(at), ..self.clone() })
    }

    /// The purchase with its lease renewed by the holder of `fence`. `None` if the holder was replaced or has
    /// released the lease.
    pub fn renewed(&self, fence: Fence, at: DateTime<Utc>, timing: &Timing) -> Option<Self> {
        let is_held = self.fence == fence && self.lease_until.is_some();
        is_held.then(|| Self { lease_until: Some(after(at, timing.lease)), ..self.clone() })
    }

    /// Whether the window for sending has closed.
    pub fn is_past_window(&self, at: DateTime<Utc>) -> bool {
        at >= self.window_closes_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_name_of_its_own() {
        for state in StateName::ALL {
            assert_eq!(StateName::parse(state.as_str()), Some(state));
        }
    }
}
