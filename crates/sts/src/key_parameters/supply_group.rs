//! The group of meters that share a vending key.

use core::fmt;

use super::{KeyParameterError, number};

/// A supply group code (SGC): six digits. A key change carries it as a number of 24 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SupplyGroupCode(u32);

impl SupplyGroupCode {
    /// Takes exactly six digits.
    pub fn parse(text: &str) -> Result<Self, KeyParameterError> {
        match number(text, 6) {
            Some(code) if text.len() == 6 => Ok(Self(code)),
            Some(_) | None => Err(KeyParameterError::SupplyGroupCode),
        }
    }

    pub(crate) fn from_halves(high: u16, low: u16) -> Result<Self, KeyParameterError> {
        match (u32::from(high) << 12) | u32::from(low) {
            code @ 0..=999_999 => Ok(Self(code)),
            _ => Err(KeyParameterError::SupplyGroupCode),
        }
    }

    /// The upper and the lower twelve bits.
    pub(crate) fn to_halves(self) -> (u16, u16) {
        let half = |bits: u32| u16::try_from(bits & 0xFFF).expect("twelve bits fit in sixteen");
        (half(self.0 >> 12), half(self.0))
    }
}

impl fmt::Display for SupplyGroupCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:06}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_split_into_two_halves_of_twelve_bits() {
        let code = SupplyGroupCode::parse("123457").unwrap();
        assert_eq!(code.to_halves(), (0x01E, 0x241));
        assert_eq!(SupplyGroupCode::from_halves(0x01E, 0x241), Ok(code));
        assert_eq!(SupplyGroupCode::from_halves(0xFFF, 0xFFF), Err(KeyParameterError::SupplyGroupCode));
    }

    #[test]
    fn leading_zeros_belong_to_the_code() {
        assert_eq!(SupplyGroupCode::parse("000042").unwrap().to_string(), "000042");
        for wrong in ["42", "1234567", "12345x", "+12345", ""] {
            assert_eq!(SupplyGroupCode::parse(wrong), Err(KeyParameterError::SupplyGroupCode));
        }
    }
}
