//! A prepayment token: the twenty digits that a customer enters.

use std::fmt;

/// The count of numbers with 66 bits: one more than the largest.
const NUMBERS: u128 = 1 << 66;

/// A prepayment token: 20 decimal digits that encode 66 bits.
///
/// It is worth money to the first person who enters it. So `Debug` shows no part of it, and there is no `Display`. A
/// call of [`digits`](Self::digits) makes it visible in the code that the token leaves this type.
///
/// ```
/// use sts::{MalformedToken, StsToken};
///
/// let token = StsToken::parse("08086259498974263587")?;
/// assert_eq!(token.digits(), "08086259498974263587");
/// assert_eq!(format!("{token:?}"), "StsToken(redacted)");
/// assert_eq!(StsToken::parse("99999999999999999999"), Err(MalformedToken::OutOfRange));
/// # Ok::<(), MalformedToken>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StsToken([u8; 20]);

/// Why a string cannot be a token of any meter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedToken {
    /// The text is not 20 ASCII digits. The caller must remove spaces and dashes between groups.
    #[error("a token has 20 digits and nothing else")]
    NotTwentyDigits,
    /// The number is too large for 66 bits.
    #[error("the number is larger than any token")]
    OutOfRange,
}

impl StsToken {
    /// Takes exactly 20 digits.
    pub fn parse(text: &str) -> Result<Self, MalformedToken> {
        let digits: [u8; 20] =
            text.as_bytes().try_into().map_err(|_length| MalformedToken::NotTwentyDigits)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(MalformedToken::NotTwentyDigits);
        }
        let token = Self(digits);
        if token.number() < NUMBERS { Ok(token) } else { Err(MalformedToken::OutOfRange) }
    }

    /// The digits in plain text.
    pub fn digits(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a token was made from ASCII digits")
    }

    pub(crate) fn from_number(number: u128) -> Self {
        Self::parse(&format!("{number:020}")).expect("the number has 66 bits")
    }

    pub(crate) fn number(&self) -> u128 {
        self.digits().parse().expect("20 digits fit in 128 bits")
    }
}

impl fmt::Debug for StsToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StsToken(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_of_66_bits_is_the_last_token() {
        assert!(StsToken::parse("73786976294838206463").is_ok());
        assert_eq!(StsToken::parse("73786976294838206464"), Err(MalformedToken::OutOfRange));
    }

    #[test]
    fn only_twenty_bare_digits_are_a_token() {
        for wrong in [
            "",
            "0808625949897426358",
            "080862594989742635870",
            "0808 6259 4989 7426 3587",
            "+8086259498974263587",
        ] {
            assert_eq!(StsToken::parse(wrong), Err(MalformedToken::NotTwentyDigits));
        }
    }
}
