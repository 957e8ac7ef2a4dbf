//! Where a purchase stands. States carry only what is true in them.

use chrono::{DateTime, Utc};

use vend::Capabilities;

use crate::Timing;
use crate::timing::{after, before};

/// Who settles doubt for this account (specification, section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handling {
    /// The integrator, through the retry endpoint.
    SelfManaged,
    /// The service: it attempts again in the background, and refunds when all attempts failed.
    Managed,
}

impl Handling {
    /// Both.
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

/// Raised by every claim and by every further send. Who acts under an older fence has been replaced, and
/// what was learnt before a send says nothing about what was sent then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub i64);

impl Fence {
    /// The one that a reserve gives to its own confirm.
    pub const FIRST: Self = Self(1);

    /// The one after this.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// What is true of an attempt whose outcome is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// How many times its order may have left us. Counted before each send.
    pub copies: u16,
    /// When the latest copy was put on record.
    pub last_sent_at: DateTime<Utc>,
    /// When the sender of the latest copy reported that its request was over. None while the request is under way, and
    /// for ever if its sender vanished.
    pub ended_at: Option<DateTime<Utc>>,
    /// By when the requests of all earlier copies were over. None if there is one copy only.
    pub earlier_ended_by: Option<DateTime<Utc>>,
    /// When the first answer of "no record" that counts was put on record.
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

    /// The provider has shown that it knows the order, so no earlier "no record" counts.
    #[must_use]
    pub const fn known_of(self) -> Self {
        Self { no_record_since: None, ..self }
    }

    /// The sender of the latest copy has reported that its request is over.
    #[must_use]
    pub fn ended(self, at: DateTime<Utc>) -> Self {
        Self { ended_at: Some(at), ..self }
    }

    /// By when the request of every copy is over: as reported, or else at its deadline.
    fn ended_by(&self, timing: &Timing) -> DateTime<Utc> {
        let deadline = after(self.last_sent_at, timing.longest_send());
        let latest = self.ended_at.unwrap_or(deadline);
        self.earlier_ended_by.map_or(latest, |earlier| earlier.max(latest))
    }

    /// From when on "no record" means something: every request is over, and the provider no longer acts on an order that
    /// left at the last moment of the gate.
    pub fn quarantined_until(&self, declared: &Capabilities, timing: &Timing) -> DateTime<Utc> {
        let settled = after(self.last_sent_at, timing.gate.saturating_add(declared.settles_within));
        settled.max(self.ended_by(timing))
    }
}

/// Open until it is `Successful` or `Failed`; those two never change again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// A sender is at work, or died at it.
    InFlight(Sending),
    /// Nobody is sending, and nobody knows what became of what was sent.
    InDoubt(Sending),
    /// The provider is proven not to have vended; another attempt is due. Managed accounts only.
    RetryDue,
    /// As in doubt, but nothing is sent any more, and an operator may decide.
    Review(Sending),
    /// Vended and paid.
    Successful {
        /// The provider's name for the vend that was paid for.
        provider_transaction: String,
    },
    /// Proven not to have been vended, and not paid.
    Failed,
}

/// A state without its facts.
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
    /// Every state, in the order of the story.
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

    /// Whether money is held for it.
    pub const fn is_open(self) -> bool {
        match self {
            Self::InFlight | Self::InDoubt | Self::RetryDue | Self::Review => true,
            Self::Successful | Self::Failed => false,
        }
    }
}

impl State {
    /// What is true of the current attempt, where its outcome is open.
    pub const fn sending(&self) -> Option<&Sending> {
        match self {
            Self::InFlight(sending) | Self::InDoubt(sending) | Self::Review(sending) => Some(sending),
            Self::RetryDue | Self::Successful { .. } | Self::Failed => None,
        }
    }

    /// The state without its facts.
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
pub struct Life {
    /// Who settles doubt.
    pub handling: Handling,
    /// Where it stands.
    pub state: State,
    /// The latest claim.
    pub fence: Fence,
    /// Until when, by the database's clock, the holder of the fence is left alone; given up when nobody
    /// holds it.
    pub lease_until: Option<DateTime<Utc>>,
    /// When it was last claimed, by the database's clock. No enquiry of that holder began earlier. None before the first
    /// claim.
    pub claimed_at: Option<DateTime<Utc>>,
    /// When an integrator last took the turn to ask about it; none before the first. A look of the worker takes no turn: a
    /// client that asks when it was told to must not find its turn gone.
    pub asked_at: Option<DateTime<Utc>>,
    /// The number of the current attempt, from 1.
    pub attempt: u16,
    /// Vend requests after the first, over all attempts.
    pub requests: u8,
    /// When nothing may be sent any more.
    pub window_closes_at: DateTime<Utc>,
}

impl Life {
    /// A purchase as its reserve writes it: money held, first copy on record, sender at work.
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

    /// Whether somebody holds it at this moment of the database's clock.
    pub fn is_leased(&self, at: DateTime<Utc>) -> bool {
        self.lease_until.is_some_and(|until| at < until)
    }

    /// Whether nobody but the confirm that reserved it has ever acted on it: whoever takes it over raises the fence.
    pub fn is_unclaimed(&self) -> bool {
        self.fence == Fence::FIRST
    }

    /// Whether another vend request may be made. Only the service's own are counted out.
    pub const fn has_requests_left(&self) -> bool {
        match self.handling {
            Handling::SelfManaged => true,
            Handling::Managed => self.requests < Timing::MANAGED_REQUESTS_MAX,
        }
    }

    /// When its first order was put on record.
    pub(crate) fn first_sent_at(&self, timing: &Timing) -> DateTime<Utc> {
        before(self.window_closes_at, timing.window)
    }

    /// Whether an integrator's question may cause an enquiry now. However many ask, one enquiry is made in each
    /// `enquiry_gap`.
    pub fn may_be_asked_about(&self, at: DateTime<Utc>, timing: &Timing) -> bool {
        self.asked_at.is_none_or(|asked| after(asked, timing.enquiry_gap) <= at)
    }

    /// The purchase with an integrator's turn to ask taken at `at`, which needs no lease; none if it has ended, has moved on
    /// from `fence`, or another turn was taken a moment ago.
    pub fn asked_about(&self, fence: Fence, at: DateTime<Utc>, timing: &Timing) -> Option<Self> {
        let may_ask =
            self.state.name().is_open() && self.fence == fence && self.may_be_asked_about(at, timing);
        may_ask.then(|| Self { asked_at: Some(at), ..self.clone() })
    }

    /// The purchase with its lease renewed by the holder of `fence`; none if the holder was replaced or has given it up.
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
