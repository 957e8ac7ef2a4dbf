//! The effect of a script line on the next message.

use std::time::Duration;

use crate::script::{Misbehaviour, Mishap};

/// How a message is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    /// Accepted and confirmed.
    Taken,
    /// Accepted and confirmed late.
    TakenLate(Duration),
    /// Accepted. The connection is cut before the confirmation.
    TakenUnsaid,
    /// The connection is cut before the message is accepted.
    Unheard,
    /// Refused temporarily.
    RefusedForNow,
    /// Refused permanently.
    RefusedForGood,
}

/// The exception of a `refuse` that is permanent.
const FOR_GOOD: &str = "permanent";

impl Reception {
    pub(super) fn scripted(line: &Misbehaviour) -> Self {
        match line.fault {
            Mishap::Delay | Mishap::DelayBefore => Self::TakenLate(line.delay()),
            Mishap::DropAfter => Self::TakenUnsaid,
            Mishap::DropBefore => Self::Unheard,
            Mishap::Refuse if line.exception() == Some(FOR_GOOD) => Self::RefusedForGood,
            Mishap::Refuse | Mishap::Busy => Self::RefusedForNow,
            Mishap::Garbage
            | Mishap::Http500After
            | Mishap::SystemExAfter
            | Mishap::Truncated
            | Mishap::Oversized
            | Mishap::WrongMeter
            | Mishap::WrongAmount
            | Mishap::WrongCurrency
            | Mishap::WrongReference
            | Mishap::NoToken
            | Mishap::Swapped
            | Mishap::OutOfOrder
            | Mishap::OddDescriptions
            | Mishap::UnprefixedFault
            | Mishap::FaultWithoutDetail
            | Mishap::MissingThenPresent
            | Mishap::Processing
            | Mishap::ProcessingThenFailed
            | Mishap::ProcessingThenRefunded => Self::Taken,
        }
    }

    /// Whether the receiver gets the message.
    pub(crate) const fn delivers(self) -> bool {
        matches!(self, Self::Taken | Self::TakenLate(_) | Self::TakenUnsaid)
    }
}
