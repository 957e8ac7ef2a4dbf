//! The currency: a code, and the number of digits of its minor unit. Every amount carries one.

use core::fmt;
use core::str::FromStr;

use alloc::borrow::ToOwned;

use crate::{MoneyError, iso4217};

/// A currency: three letters, and how many decimal digits its minor unit has. It takes four bytes.
///
/// ```
/// use money::Currency;
///
/// assert_eq!(Currency::parse("BWP")?.minor_digits(), 2);
/// assert_eq!(Currency::parse("JPY")?.minor_digits(), 0);
/// assert_eq!(Currency::parse("TND")?.minor_digits(), 3);
/// assert!(Currency::parse("ABC").is_err());
/// # Ok::<(), money::MoneyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency {
    code: [u8; 3],
    minor_digits: u8,
}

impl Currency {
    /// The most minor digits of any currency here.
    pub const MINOR_DIGITS_MAX: u8 = 6;

    /// A code of ISO 4217, with the minor digits that the standard lists.
    ///
    /// # Errors
    /// [`MoneyError::BadCurrency`] if the text is not three upper-case ASCII letters, if the standard does not list them, or
    /// if it lists them without a minor unit (gold, or the codes for tests and for no currency).
    pub fn parse(code: &str) -> Result<Self, MoneyError> {
        let bad = || MoneyError::BadCurrency(code.to_owned());
        let letters = letters(code).ok_or_else(bad)?;
        let minor_digits = iso4217::minor_digits(letters).ok_or_else(bad)?;
        Ok(Self { code: letters, minor_digits })
    }

    /// A code of any three upper-case letters, with minor digits of one's own choice: for a currency that ISO 4217 does not
    /// list, or for a system that counts in another unit.
    ///
    /// Amounts of two currencies with the same code and different minor digits do not mix.
    ///
    /// # Errors
    /// [`MoneyError::BadCurrency`] if the text is not three upper-case ASCII letters, or if there are more than
    /// [`MINOR_DIGITS_MAX`](Self::MINOR_DIGITS_MAX) digits.
    pub fn with_minor_digits(code: &str, minor_digits: u8) -> Result<Self, MoneyError> {
        match letters(code) {
            Some(letters) if minor_digits <= Self::MINOR_DIGITS_MAX => {
                Ok(Self { code: letters, minor_digits })
            }
            Some(_) | None => Err(MoneyError::BadCurrency(code.to_owned())),
        }
    }

    /// A code of any three upper-case letters, counted in hundredths. It is for systems in which every amount has two
    /// decimals, whatever its currency.
    ///
    /// # Errors
    /// [`MoneyError::BadCurrency`] if the text is not three upper-case ASCII letters.
    pub fn in_hundredths(code: &str) -> Result<Self, MoneyError> {
        Self::with_minor_digits(code, 2)
    }

    /// The three letters.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.code).expect("a code has ASCII letters only")
    }

    /// The number of decimal digits of the minor unit: 2 if it is a hundredth, 0 if there is none.
    pub const fn minor_digits(self) -> u8 {
        self.minor_digits
    }

    /// Whether ISO 4217 lists this code with these minor digits.
    pub fn is_iso(self) -> bool {
        iso4217::minor_digits(self.code) == Some(self.minor_digits)
    }
}

/// The three upper-case ASCII letters of a code.
fn letters(code: &str) -> Option<[u8; 3]> {
    match code.as_bytes() {
        &[a, b, c] if [a, b, c].iter().all(u8::is_ascii_uppercase) => Some([a, b, c]),
        _ => None,
    }
}

impl FromStr for Currency {
    type Err = MoneyError;

    fn from_str(code: &str) -> Result<Self, MoneyError> {
        Self::parse(code)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
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
            let bad = Err(MoneyError::BadCurrency(code.to_owned()));
            assert_eq!(Currency::parse(code), bad);
            assert_eq!(Currency::in_hundredths(code), bad);
        }
    }

    #[test]
    fn a_code_without_a_minor_unit_is_no_iso_currency() {
        for code in ["ABC", "XTS", "XXX", "XAU"] {
            assert!(Currency::parse(code).is_err(), "{code}");
            let own = Currency::in_hundredths(code).unwrap();
            assert_eq!((own.minor_digits(), own.is_iso()), (2, false));
        }
        assert!(Currency::with_minor_digits("ABC", 7).is_err());
    }

    #[test]
    fn one_code_with_two_units_is_two_currencies() {
        let shilling = Currency::parse("UGX").unwrap();
        let hundredth = Currency::in_hundredths("UGX").unwrap();
        assert!(shilling != hundredth && shilling.is_iso() && !hundredth.is_iso());
        assert_eq!(Currency::in_hundredths("BWP"), Currency::parse("BWP"));
        let mixed = MoneyError::CurrencyMismatch(shilling, hundredth);
        assert_eq!(mixed.to_string(), "cannot combine UGX with UGX: one has 0 minor digits, the other 2");
    }

    #[test]
    fn a_currency_takes_four_bytes() {
        assert_eq!(size_of::<Currency>(), 4);
    }
}
