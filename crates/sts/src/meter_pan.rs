//! The primary account number of a meter. Key derivation uses it instead of the meter number.

use core::fmt;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use crate::luhn;
use crate::meter_number::{MeterNumber, MeterNumberError};

const ISSUER_OF_11_DIGITS: &str = "600727";
const ISSUER_OF_13_DIGITS: &str = "0000";

/// A meter's primary account number: issuer, meter number, check digit. It has 18 digits.
///
/// Meter numbers of 11 digits have the issuer `600727`, those of 13 digits the issuer `0000`.
///
/// ```
/// use sts::{MeterNumber, MeterPan};
///
/// let pan = MeterPan::of(&MeterNumber::parse("07040904562")?);
/// assert_eq!(pan.as_str(), "600727070409045624");
/// # Ok::<(), sts::MeterNumberError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MeterPan(String);

/// Why a string is not a meter's primary account number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeterPanError {
    /// The text is not 18 ASCII digits.
    #[error("a meter PAN has 18 digits")]
    NotEighteenDigits,
    /// The number does not begin with an issuer of prepayment meters.
    #[error("the PAN begins with neither {ISSUER_OF_11_DIGITS} nor {ISSUER_OF_13_DIGITS}")]
    UnknownIssuer,
    /// The meter number inside is not valid.
    #[error("the meter number inside the PAN is not valid")]
    MeterNumber(#[source] MeterNumberError),
    /// The check digit is wrong.
    #[error("the check digit is {found} and should be {expected}")]
    CheckDigit {
        /// The correct check digit.
        expected: u8,
        /// The actual last digit.
        found: u8,
    },
}

impl MeterPan {
    /// The account number of a meter. Each meter has exactly one.
    pub fn of(meter: &MeterNumber) -> Self {
        let issuer = match meter.as_str().len() {
            11 => ISSUER_OF_11_DIGITS,
            _ => ISSUER_OF_13_DIGITS,
        };
        let payload = format!("{issuer}{meter}");
        let check = luhn::luhn_check_digit(&payload).expect("issuer and meter number are digits");
        Self(format!("{payload}{check}"))
    }

    /// Takes 18 digits and checks both check digits.
    pub fn parse(text: &str) -> Result<Self, MeterPanError> {
        if text.len() != 18 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(MeterPanError::NotEighteenDigits);
        }
        if let Some(digit) = luhn::mismatch(text) {
            return Err(MeterPanError::CheckDigit { expected: digit.expected, found: digit.found });
        }
        MeterNumber::parse(meter_digits(text)?).map_err(MeterPanError::MeterNumber)?;
        Ok(Self(text.to_owned()))
    }

    /// All 18 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The meter number of this account number.
    pub fn meter_number(&self) -> MeterNumber {
        let digits = meter_digits(&self.0).expect("the issuer was validated on construction");
        MeterNumber::parse(digits).expect("the meter number was validated on construction")
    }
}

impl fmt::Display for MeterPan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn meter_digits(pan: &str) -> Result<&str, MeterPanError> {
    pan.strip_prefix(ISSUER_OF_11_DIGITS)
        .or_else(|| pan.strip_prefix(ISSUER_OF_13_DIGITS))
        .and_then(|rest| rest.get(..rest.len() - 1))
        .ok_or(MeterPanError::UnknownIssuer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_account_numbers_hold_their_meters() {
        for (pan, meter) in [
            ("600727000000000009", "00000000000"),
            ("000001000000000082", "0100000000008"),
            ("600727070409045624", "07040904562"),
        ] {
            let parsed = MeterPan::parse(pan).unwrap();
            assert_eq!(parsed.meter_number().as_str(), meter);
            assert_eq!(MeterPan::of(&parsed.meter_number()), parsed);
        }
    }

    #[test]
    fn a_wrong_account_number_is_refused_with_its_reason() {
        assert_eq!(MeterPan::parse("60072700000000000"), Err(MeterPanError::NotEighteenDigits));
        assert_eq!(
            MeterPan::parse("600727000000000008"),
            Err(MeterPanError::CheckDigit { expected: 9, found: 8 })
        );
        assert_eq!(MeterPan::parse("600728000000000008"), Err(MeterPanError::UnknownIssuer));
        assert_eq!(
            MeterPan::parse("600727000000000017"),
            Err(MeterPanError::MeterNumber(MeterNumberError::CheckDigit { expected: 0, found: 1 }))
        );
    }
}
