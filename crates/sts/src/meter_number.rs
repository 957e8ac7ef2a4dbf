//! The number printed on a meter.

use core::fmt;

use alloc::borrow::ToOwned;
use alloc::string::String;

use crate::luhn;

/// A meter's decoder reference number (DRN): 11 or 13 digits. The last one is a Luhn check digit.
///
/// ```
/// use sts::{MeterNumber, MeterNumberError};
///
/// assert_eq!(MeterNumber::parse("04257670465")?.as_str(), "04257670465");
/// assert_eq!(
///     MeterNumber::parse("01234567890"),
///     Err(MeterNumberError::CheckDigit { expected: 7, found: 0 }),
/// );
/// # Ok::<(), MeterNumberError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MeterNumber(String);

/// Why a string is not a meter number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeterNumberError {
    /// The text has a character that is not an ASCII digit.
    #[error("a meter number has digits only")]
    NotDigits,
    /// The number has neither 11 nor 13 digits.
    #[error("a meter number has 11 or 13 digits, not {digits}")]
    Length {
        /// The number of digits.
        digits: usize,
    },
    /// The check digit is wrong, most likely because of a typing error.
    #[error("the check digit is {found} and should be {expected}")]
    CheckDigit {
        /// The correct check digit.
        expected: u8,
        /// The actual last digit.
        found: u8,
    },
}

impl MeterNumber {
    /// Takes the printed number without spaces.
    pub fn parse(text: &str) -> Result<Self, MeterNumberError> {
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(MeterNumberError::NotDigits);
        }
        if !matches!(text.len(), 11 | 13) {
            return Err(MeterNumberError::Length { digits: text.len() });
        }
        match luhn::mismatch(text) {
            Some(digit) => Err(MeterNumberError::CheckDigit { expected: digit.expected, found: digit.found }),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The printed digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MeterNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eleven_and_thirteen_digits_are_accepted() {
        for number in ["04257670465", "07040904562", "0268999900262", "00000000000", "0100000000008"] {
            assert_eq!(MeterNumber::parse(number).unwrap().to_string(), number);
        }
    }

    #[test]
    fn anything_else_is_refused_with_its_reason() {
        assert_eq!(MeterNumber::parse(""), Err(MeterNumberError::Length { digits: 0 }));
        assert_eq!(MeterNumber::parse("042576704650"), Err(MeterNumberError::Length { digits: 12 }));
        assert_eq!(MeterNumber::parse("0425767046 "), Err(MeterNumberError::NotDigits));
        assert_eq!(MeterNumber::parse("٠٤٢٥٧٦٧٠٤٦٥"), Err(MeterNumberError::NotDigits));
        assert_eq!(
            MeterNumber::parse("04257670466"),
            Err(MeterNumberError::CheckDigit { expected: 5, found: 6 })
        );
    }
}
