//! The reasons why a trial proves nothing.

use vend::{Doubt, Unanswered};

/// Why a trial proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Untried {
    /// The trial was refused or not answered.
    Unanswered(Unanswered),
    /// The answer has a token that a meter might accept. So the gateway may have vended.
    RealToken,
    /// The answer has fewer tokens than a vend requires.
    TokenMissing,
}

impl From<Unanswered> for Untried {
    fn from(unanswered: Unanswered) -> Self {
        Self::Unanswered(unanswered)
    }
}

impl From<Doubt> for Untried {
    fn from(doubt: Doubt) -> Self {
        Self::Unanswered(Unanswered::NoAnswer(doubt))
    }
}

impl From<Untried> for Unanswered {
    fn from(untried: Untried) -> Self {
        match untried {
            Untried::Unanswered(unanswered) => unanswered,
            Untried::RealToken | Untried::TokenMissing => Self::NoAnswer(Doubt::Mismatched),
        }
    }
}
