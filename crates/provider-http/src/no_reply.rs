//! The reasons for a missing reply, and what each of them proves.

use vend::{Doubt, Refusal, RefusalReason, Unanswered, VendOutcome};

/// Why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoReply {
    /// It is proven that the vendor cannot have read the message.
    #[error("no byte of the message left us")]
    NeverSent,
    /// The deadline passed.
    #[error("no reply within the deadline")]
    TimedOut,
    /// The connection broke.
    #[error("the connection was lost after the message left")]
    ConnectionLost,
    /// The reply is larger than the limit, or cannot be read.
    #[error("the reply is too large, or broken")]
    Unreadable,
}

impl NoReply {
    /// The same reason for a message that was already handed over: `NeverSent` becomes `ConnectionLost`.
    pub(crate) const fn after_departure(self) -> Self {
        match self {
            Self::NeverSent | Self::ConnectionLost => Self::ConnectionLost,
            Self::TimedOut => Self::TimedOut,
            Self::Unreadable => Self::Unreadable,
        }
    }

    /// The doubt that remains about an order that was sent earlier.
    pub const fn doubt(self) -> Doubt {
        match self {
            Self::TimedOut => Doubt::TimedOut,
            Self::NeverSent | Self::ConnectionLost => Doubt::ConnectionLost,
            Self::Unreadable => Doubt::Unreadable,
        }
    }

    /// The outcome of the order in this message. Only `NeverSent` is a refusal. Everything else is doubt.
    pub fn outcome(self) -> VendOutcome {
        match self {
            Self::NeverSent => VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent)),
            Self::TimedOut | Self::ConnectionLost | Self::Unreadable => {
                VendOutcome::Unknown(self.doubt().into())
            }
        }
    }

    /// The result of a question that moves no money.
    pub const fn unanswered(self) -> Unanswered {
        match self {
            Self::NeverSent => Unanswered::Unreachable,
            Self::TimedOut | Self::ConnectionLost | Self::Unreadable => Unanswered::NoAnswer(self.doubt()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_never_left_is_a_refusal() {
        let never = VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent));
        assert_eq!(NoReply::NeverSent.outcome(), never);
        for (no_reply, doubt) in [
            (NoReply::TimedOut, Doubt::TimedOut),
            (NoReply::ConnectionLost, Doubt::ConnectionLost),
            (NoReply::Unreadable, Doubt::Unreadable),
        ] {
            assert_eq!(no_reply.outcome(), VendOutcome::Unknown(doubt.into()));
            assert_eq!(no_reply.unanswered(), Unanswered::NoAnswer(doubt));
        }
        assert_eq!(NoReply::NeverSent.unanswered(), Unanswered::Unreachable);
    }
}
