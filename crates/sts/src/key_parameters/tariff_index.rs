//! The tariff that a meter belongs to.

use core::fmt;

use super::{KeyParameterError, number};

/// A tariff index (TI): 00 to 99.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TariffIndex(u8);

impl TariffIndex {
    /// Takes one or two digits, because some systems write `1` for `01`.
    pub fn parse(text: &str) -> Result<Self, KeyParameterError> {
        number(text, 2)
            .and_then(|index| u8::try_from(index).ok())
            .map(Self)
            .ok_or(KeyParameterError::TariffIndex)
    }

    /// Takes a number up to 99.
    pub fn try_new(index: u8) -> Result<Self, KeyParameterError> {
        match index {
            0..=99 => Ok(Self(index)),
            _ => Err(KeyParameterError::TariffIndex),
        }
    }

    /// The index as a number.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for TariffIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_digit_is_read_and_two_are_written() {
        assert_eq!(TariffIndex::parse("1"), TariffIndex::parse("01"));
        assert_eq!(TariffIndex::parse("1").unwrap().to_string(), "01");
        for wrong in ["", "100", "-1", "+1", "x"] {
            assert_eq!(TariffIndex::parse(wrong), Err(KeyParameterError::TariffIndex));
        }
        assert_eq!(TariffIndex::try_new(100), Err(KeyParameterError::TariffIndex));
    }
}
