//! A prepayment token: the twenty digits that a customer enters.

use core::fmt;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

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
    /// The text is not 20 ASCII digits.
    #[error("a token has 20 digits and nothing else; `parse_grouped` also takes blanks and hyphens")]
    NotTwentyDigits,
    /// The number is too large for 66 bits.
    #[error("the number is larger than any token")]
    OutOfRange,
}

impl StsToken {
    /// Takes exactly 20 digits, without separators. See [`parse_grouped`](Self::parse_grouped).
    pub fn parse(text: &str) -> Result<Self, MalformedToken> {
        let digits: [u8; 20] =
            text.as_bytes().try_into().map_err(|_length| MalformedToken::NotTwentyDigits)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(MalformedToken::NotTwentyDigits);
        }
        let token = Self(digits);
        if token.number() < NUMBERS { Ok(token) } else { Err(MalformedToken::OutOfRange) }
    }

    /// Takes 20 digits in groups, as people write and type them: blanks and hyphens between the digits are dropped.
    ///
    /// ```
    /// use sts::StsToken;
    ///
    /// let token = StsToken::parse_grouped(" 0808 6259-4989 7426 3587 ")?;
    /// assert_eq!(token.digits(), "08086259498974263587");
    /// assert_eq!(token.grouped(), "0808 6259 4989 7426 3587");
    /// # Ok::<(), sts::MalformedToken>(())
    /// ```
    pub fn parse_grouped(text: &str) -> Result<Self, MalformedToken> {
        let digits: String = text.chars().filter(|character| !matches!(character, ' ' | '-')).collect();
        Self::parse(&digits)
    }

    /// The digits in groups of four, for reading and typing.
    pub fn grouped(&self) -> String {
        let groups: Vec<&str> =
            self.0.chunks(4).map(|group| core::str::from_utf8(group).unwrap_or_default()).collect();
        groups.join(" ")
    }

    /// The digits in plain text.
    pub fn digits(&self) -> &str {
        core::str::from_utf8(&self.0).expect("a token was made from ASCII digits")
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
    fn groups_may_be_separated_in_any_way_but_by_nothing_else() {
        for text in [
            "0808 6259 4989 7426 3587",
            "08086-25949-89742-63587",
            "08086259498974263587",
            "0 8086259498974263587",
        ] {
            assert_eq!(
                StsToken::parse_grouped(text).map(|token| token.grouped()),
                Ok("0808 6259 4989 7426 3587".to_owned())
            );
        }
        for text in ["0808.6259.4989.7426.3587", "0808\n62594989742635 87", "0808 6259 4989 7426 358", ""] {
            assert_eq!(StsToken::parse_grouped(text), Err(MalformedToken::NotTwentyDigits));
        }
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
