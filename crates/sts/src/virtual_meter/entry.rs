//! The meter's answers.

use crate::credit_kind::CreditKind;
use crate::key_change::SectionNumber;
use crate::sts_token::MalformedToken;

/// What the meter made of a token that was typed into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It did what the token says.
    Accepted(Acceptance),
    /// It did nothing.
    Refused(EntryRefusal),
}

/// What an accepted token did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// Credit was added.
    Credit {
        /// What was credited.
        kind: CreditKind,
        /// How much, in tenths of a unit.
        tenths: u32,
    },
    /// Credit was taken away.
    CreditCleared,
    /// Part of a new key was taken down; the old key stays in use until the last one.
    KeySection(SectionNumber),
    /// The last section was taken down and the new key is in use.
    KeyChanged {
        /// The base date moved on, and the meter forgot which identifiers it had seen.
        rolled_over: bool,
    },
}

/// Why the meter did nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryRefusal {
    /// The digits are no token at all.
    #[error("this is not a token")]
    Malformed(#[source] MalformedToken),
    /// The token was not made under the meter's present key: meant for another meter, mistyped, made before the last
    /// key change, or made for a key that has not been entered yet.
    #[error("the token was not made under the meter's key")]
    WrongKey,
    /// The token is sound, but the meter does not know what to do with it.
    #[error("the meter does not support this token")]
    Unsupported,
    /// The meter has accepted this token, or another one with its identifier.
    #[error("the token was used before")]
    AlreadyUsed,
    /// The token is older than everything the meter remembers, so it cannot tell whether it was used.
    #[error("the token is too old to tell whether it was used")]
    TooOld,
    /// The sections of a key change are entered in order.
    #[error("the {entered} section of a key change was entered where the {expected} was due")]
    OutOfOrder {
        /// The section that is due.
        expected: SectionNumber,
        /// The section that was entered.
        entered: SectionNumber,
    },
    /// The meter does not give out this kind of credit.
    #[error("the meter has no register for {kind:?} credit")]
    WrongCreditKind {
        /// The kind the token was made for.
        kind: CreditKind,
    },
    /// The token was made after the meter's key expired.
    #[error("the meter's key had expired when the token was made")]
    KeyExpired,
}

impl Entry {
    /// Whether the meter did what the token says.
    pub fn is_accepted(&self) -> bool {
        match self {
            Self::Accepted(_) => true,
            Self::Refused(_) => false,
        }
    }
}
