//! How a trial ends without proof.

use vend::{Doubt, Unanswered};

/// Why a trial proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Untried {
    /// It was refused or not answered.
    Unanswered(Unanswered),
    /// It was answered with a token that might open a meter, so it may have been taken for a vend.
    RealToken,
    /// It was answered with fewer tokens than a vend owes.
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
