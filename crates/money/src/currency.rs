//! The currency code. Every amount carries one.

use std::fmt;

use crate::MoneyError;

/// An ISO 4217 alphabetic code. Only the form is checked. The accounts decide which currencies are in use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// Exactly three upper-case ASCII letters.
    pub fn parse(code: &str) -> Result<Self, MoneyError> {
        match code.as_bytes() {
            &[a, b, c] if [a, b, c].iter().all(u8::is_ascii_uppercase) => Ok(Self([a, b, c])),
            _ => Err(MoneyError::BadCurrency(code.to_owned())),
        }
    }

    /// The three letters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("parse admits ASCII letters only")
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_upper_case_letters_name_a_currency() {
        assert_eq!(Currency::parse("BWP").unwrap().as_str(), "BWP");
        for code in ["", "BW", "BWPX", "bwp", "B1P", "ÀBC", "BW "] {
            assert_eq!(Currency::parse(code), Err(MoneyError::BadCurrency(code.to_owned())));
        }
    }
}
