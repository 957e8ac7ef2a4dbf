//! What a store tells of a purchase after a reserve or a record.

use chrono::{DateTime, Utc};

use crate::{Illegal, Lifecycle};

/// The money is held and the first send is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The lifecycle as the reserve left it, also if the purchase has moved since.
    pub lifecycle: Lifecycle,
    /// When that was, by the store's clock.
    pub at: DateTime<Utc>,
    /// Whether this run of the reserve made it. False if an earlier run did.
    pub is_new: bool,
}

/// A purchase after an event was proposed to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its lifecycle now.
    pub lifecycle: Lifecycle,
    /// The time of the record, by the store's clock.
    pub at: DateTime<Utc>,
    /// What the event did.
    pub verdict: Verdict,
}

/// What an event did to its purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It moved the purchase, or opened an incident about it.
    Moved,
    /// It was recorded before.
    AlreadyThere,
    /// It is not legal in this state. Nothing changed.
    Illegal(Illegal),
}
