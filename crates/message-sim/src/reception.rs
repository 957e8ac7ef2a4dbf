//! How a message is received, and who decides it.

use std::{sync::Arc, time::Duration};

use crate::inbox::Channel;

/// Decides the reception of the next message, from its channel and its receiver. It is called once for each message
/// that is otherwise correct: for a mail to more than one receiver, with the first.
pub type NextReception = Arc<dyn Fn(Channel, &str) -> Reception + Send + Sync>;

/// How a message is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reception {
    /// Accepted and confirmed.
    Taken,
    /// Accepted, and confirmed this much later.
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

impl Reception {
    /// Whether the receiver gets the message.
    pub(crate) const fn delivers(self) -> bool {
        matches!(self, Self::Taken | Self::TakenLate(_) | Self::TakenUnsaid)
    }
}
