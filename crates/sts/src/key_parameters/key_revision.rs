//! The generation of a vending key.

use core::fmt;

use super::{KeyParameterError, number};

/// A key revision number (KRN): 1 to 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyRevision(u8);

impl KeyRevision {
    /// Takes one digit, not zero.
    pub fn parse(text: &str) -> Result<Self, KeyParameterError> {
        number(text, 1)
            .and_then(|revision| u8::try_from(revision).ok())
            .ok_or(KeyParameterError::KeyRevision)
            .and_then(Self::try_new)
    }

    /// Takes a number from 1 to 9.
    pub fn try_new(revision: u8) -> Result<Self, KeyParameterError> {
        match revision {
            1..=9 => Ok(Self(revision)),
            _ => Err(KeyParameterError::KeyRevision),
        }
    }

    /// The revision as a number.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for KeyRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_one_digit_and_not_zero() {
        assert_eq!(KeyRevision::parse("9").unwrap().get(), 9);
        for wrong in ["", "0", "10", "x"] {
            assert_eq!(KeyRevision::parse(wrong), Err(KeyParameterError::KeyRevision));
        }
    }
}
