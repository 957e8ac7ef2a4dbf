//! Purchases as an integrator reads them: the status that it sees, the selection and the order.

use std::fmt;

use chrono::{DateTime, Utc};
use vend::SubscriberIdentifier;

use crate::{ClientId, OrganisationId, PurchaseId, Record, StateName, UserId};

/// What an integrator sees of a purchase's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PurchaseStatus {
    /// Vended and paid. This status is final.
    Successful,
    /// Not vended and not paid. This status is final.
    Failed,
    /// The outcome is not known yet. The money is held.
    Pending,
}

impl PurchaseStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Successful, Self::Failed, Self::Pending];

    /// A stable name, for messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Successful => "SUCCESSFUL",
            Self::Failed => "FAILED",
            Self::Pending => "PENDING",
        }
    }

    /// The status that an integrator sees for this state.
    pub const fn of(state: StateName) -> Self {
        match state {
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => {
                Self::Pending
            }
            StateName::Successful => Self::Successful,
            StateName::Failed => Self::Failed,
        }
    }

    /// The states that have this status.
    pub fn states(self) -> impl Iterator<Item = StateName> {
        StateName::ALL.into_iter().filter(move |state| Self::of(*state) == self)
    }
}

/// Which of an organisation's purchases are selected. A field that is `None` selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The integrator's own name for the purchases.
    pub external_reference: Option<String>,
    /// The subscriber that they are for.
    pub subscriber: Option<SubscriberIdentifier>,
    /// Their status.
    pub status: Option<PurchaseStatus>,
    /// Reserved at this moment or later.
    pub from: Option<DateTime<Utc>>,
    /// Reserved before this moment.
    pub to: Option<DateTime<Utc>>,
}

/// A position among an organisation's purchases, newest first: by the time of the reserve, then by number. A purchase
/// never changes its position, so a position stays valid while others buy. The time is taken before the reserve is
/// committed. So among concurrent purchases an older one may become visible after a newer one. A client that asks for
/// new purchases must begin a minute before the newest one that it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// When the purchase at this position was reserved.
    pub at: DateTime<Utc>,
    /// The number of that purchase.
    pub id: PurchaseId,
}

/// The user in whose name a purchase was made, as the user is now. `Debug` shows only the number, no personal data.
#[derive(Clone, PartialEq, Eq)]
pub struct Buyer {
    /// The user's number.
    pub id: UserId,
    /// The name that the user logs in with.
    pub username: String,
    /// The name for display.
    pub full_name: String,
    /// The phone number in E.164 digits.
    pub phone_number: Option<String>,
    /// Whether the user is not suspended.
    pub is_active: bool,
}

/// A purchase with everything that an integrator can see of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurchaseWithBuyer {
    /// The purchase in its current state.
    pub record: Record,
    /// The user in whose name it was made.
    pub buyer: Buyer,
}

/// One page of a selection of purchases, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The purchases, in order.
    pub purchases: Vec<PurchaseWithBuyer>,
    /// The position after which the next page begins. `None` if this is the last page.
    pub next: Option<Position>,
}

impl fmt::Debug for Buyer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Buyer").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A question for the last tokens of a subscriber, by its identifier alone, and who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookUp {
    /// The organisation that sold them.
    pub organisation: OrganisationId,
    /// The client program that sent the request.
    pub client: ClientId,
    /// The user who asks.
    pub user: UserId,
    /// The meter.
    pub subscriber: SubscriberIdentifier,
    /// How many days back.
    pub days: u16,
    /// At most so many purchases.
    pub limit: u16,
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
