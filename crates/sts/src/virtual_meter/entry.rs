//! The meter's results for entered tokens.

use crate::credit_kind::CreditKind;
use crate::instruction::Instruction;
use crate::key_change::SectionNumber;
use crate::meter_test::MeterTest;
use crate::sts_token::MalformedToken;

/// The meter's result for an entered token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The meter executed the token.
    Accepted(Acceptance),
    /// The meter did nothing.
    Refused(EntryRefusal),
}

/// The effect of an accepted token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// Credit was added.
    Credit {
        /// The kind of credit.
        kind: CreditKind,
        /// The amount, in tenths of a unit.
        tenths: u32,
    },
    /// Credit was removed.
    CreditCleared,
    /// A setting was changed.
    Instruction(Instruction),
    /// Tests or displays were started.
    Test(MeterTest),
    /// A section of a new key was stored. The old key stays in use until the last section.
    KeySection(SectionNumber),
    /// The last section was stored, and the new key is in use.
    KeyChanged {
        /// Whether the base date moved to the next one. Then the meter forgot which identifiers it had seen.
        rolled_over: bool,
    },
}

/// Why the meter did nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryRefusal {
    /// The digits are not a token.
    #[error("this is not a token")]
    Malformed(#[source] MalformedToken),
    /// The checksum is wrong. The meter knows only that these digits are no token under its key: a digit is mistyped, or the token
    /// is for another meter, or it was made before the last key change, or its key has not been entered yet.
    #[error(
        "the checksum is wrong: a digit is mistyped, or the token was made for another meter or under another key"
    )]
    WrongChecksum,
    /// The token is valid, but the meter does not support its content.
    #[error("the meter does not support this token")]
    Unsupported,
    /// The meter has already accepted this token or another one with the same identifier.
    #[error("the token was used before")]
    AlreadyUsed,
    /// The token is older than all identifiers that the meter remembers. So the meter cannot know whether it was used.
    #[error("the token is too old to tell whether it was used")]
    TooOld,
    /// A section of a key change was entered in the wrong order.
    #[error("the {entered} section of a key change was entered where the {expected} was due")]
    OutOfOrder {
        /// The section that must be entered next.
        expected: SectionNumber,
        /// The section that was entered.
        entered: SectionNumber,
    },
    /// The meter has no register for this kind of credit.
    #[error("the meter has no register for {kind:?} credit")]
    WrongCreditKind {
        /// The kind of credit of the token.
        kind: CreditKind,
    },
    /// The token was made after the meter's key expired.
    #[error("the meter's key had expired when the token was made")]
    KeyExpired,
}

impl Entry {
    /// Whether the meter executed the token.
    pub fn is_accepted(&self) -> bool {
        match self {
            Self::Accepted(_) => true,
            Self::Refused(_) => false,
        }
    }
}
