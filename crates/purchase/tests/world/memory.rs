//! What a provider remembers of an order, and what that means for a further copy of it.

use vend::{Capabilities, RefusalReason};

/// How a provider that takes repeats safely answers a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    FromMemory,
    Rejected,
}

/// What became of an order. `Time` is the clock of the tests that use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory<Time> {
    Vended {
        /// Which of the provider's vends it is.
        number: usize,
        /// Before this time an enquiry may miss it.
        found_from: Time,
    },
    Refused(RefusalReason),
}

/// The answer to a copy of an order that the provider treats as a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    Vended(usize),
    Refused(RefusalReason),
    RepeatRejected,
}

impl<Time: Copy> Memory<Time> {
    /// Whether a provider that does this treats every further copy as a repeat. Otherwise it may vend again.
    pub const fn settles(self, does: &Capabilities) -> bool {
        match self {
            Self::Vended { .. } => does.repeat_is_safe,
            Self::Refused(_) => does.repeat_is_safe && does.remembers_refusals,
        }
    }

    pub const fn answer_to_repeat(self, repeats: Repeats) -> Answer {
        match (repeats, self) {
            (Repeats::FromMemory, Self::Vended { number, .. }) => Answer::Vended(number),
            (Repeats::FromMemory, Self::Refused(reason)) => Answer::Refused(reason),
            (Repeats::Rejected, _) => Answer::RepeatRejected,
        }
    }
}
