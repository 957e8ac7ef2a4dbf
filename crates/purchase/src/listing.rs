//! Purchases as an integrator reads them back: what it sees of a state, which ones it means, in which order they lie.

use std::fmt;

use chrono::{DateTime, Utc};
use vend::SubscriberIdentifier;

use crate::{PurchaseId, Record, StateName, UserId};

/// What an integrator sees of a purchase's state (specification, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PurchaseStatus {
    /// Vended and paid; it stays so.
    Successful,
    /// Not vended and not paid; it stays so.
    Failed,
    /// Not known yet; the money is held.
    Pending,
}

impl PurchaseStatus {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Successful, Self::Failed, Self::Pending];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Successful => "SUCCESSFUL",
            Self::Failed => "FAILED",
            Self::Pending => "PENDING",
        }
    }

    /// What an integrator sees of this state.
    pub const fn of(state: StateName) -> Self {
        match state {
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => {
                Self::Pending
            }
            StateName::Successful => Self::Successful,
            StateName::Failed => Self::Failed,
        }
    }

    /// The states that look so.
    pub fn states(self) -> impl Iterator<Item = StateName> {
        StateName::ALL.into_iter().filter(move |state| Self::of(*state) == self)
    }
}

/// Which of an organisation's purchases are meant. What is not given is not asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The integrator's own name for them.
    pub external_reference: Option<String>,
    /// For whom they are.
    pub subscriber: Option<SubscriberIdentifier>,
    /// How they stand.
    pub status: Option<PurchaseStatus>,
    /// Reserved at this moment or later.
    pub from: Option<DateTime<Utc>>,
    /// Reserved before this moment.
    pub to: Option<DateTime<Utc>>,
}

/// A place among an organisation's purchases, newest first: by the time of the reserve, then by number. A purchase
/// keeps its place for ever, so a place holds while others buy. That time is taken before the reserve is committed, so
/// of purchases made side by side an older one may become visible after a newer one: whoever asks for what is new begins
/// a minute before the newest it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// When the purchase there was reserved.
    pub at: DateTime<Utc>,
    /// Its number.
    pub id: PurchaseId,
}

/// The user in whose name a purchase was made, as it is now. `Debug` keeps who that is to itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Buyer {
    /// Its number.
    pub id: UserId,
    /// What it logs in as.
    pub username: String,
    /// For people.
    pub full_name: String,
    /// E.164 digits.
    pub phone_number: Option<String>,
    /// Whether it is not suspended.
    pub is_active: bool,
}

/// A purchase with everything that an integrator is told about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filed {
    /// The purchase as it stands.
    pub record: Record,
    /// In whose name it was made.
    pub buyer: Buyer,
}

/// So many purchases of a selection, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// In order.
    pub purchases: Vec<Filed>,
    /// After which place the next page begins; none, if this is the last.
    pub next: Option<Place>,
}

impl fmt::Debug for Buyer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Buyer").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_looks_like_one_status_and_only_open_ones_are_pending() {
        for state in StateName::ALL {
            assert_eq!(PurchaseStatus::of(state) == PurchaseStatus::Pending, state.is_open(), "{state:?}");
        }
        let seen: usize = PurchaseStatus::ALL.into_iter().map(|status| status.states().count()).sum();
        assert_eq!(seen, StateName::ALL.len());
    }
}
