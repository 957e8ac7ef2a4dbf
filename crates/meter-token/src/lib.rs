//! The tokens of a vend and their text form.
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(test, feature = "std")), no_std)]
#![warn(missing_docs)]

extern crate alloc;

mod set;

use core::fmt;

use alloc::borrow::ToOwned;
use alloc::string::String;

pub use set::{DescribedToken, TokenSet, TypicalDescription};

/// Why a text is not a meter token or a token set. The error never contains the text, because it may be worth money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeterTokenError {
    /// The text is empty or has only blanks.
    #[error("a meter token is empty")]
    Empty,
    /// The text is longer than any token that a meter accepts.
    #[error("a meter token has more than {MAX_LENGTH} characters")]
    TooLong,
    /// The text has a character that is not an ASCII letter, a digit, a blank or a hyphen.
    #[error("a meter token has a character that no meter takes")]
    BadCharacter,
    /// The description is empty or would break the wire format.
    #[error("a token description is empty or contains ':' or '|'")]
    BadDescription,
    /// A pair has no colon.
    #[error("a pair of a token set has no colon")]
    NoColon,
    /// The set has no tokens.
    #[error("a token set holds no token")]
    NoTokens,
}

/// The maximum number of characters. A numeric STS token has 20 digits, and some voucher codes are longer.
const MAX_LENGTH: usize = 64;

/// A token that a customer enters into a meter. It is worth money, so `Debug` shows no part of it.
#[derive(Clone, PartialEq, Eq)]
pub struct MeterToken(String);

impl MeterToken {
    /// Takes at most 64 ASCII letters, digits, inner blanks and hyphens. Surrounding blanks are dropped.
    pub fn parse(text: &str) -> Result<Self, MeterTokenError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(MeterTokenError::Empty);
        }
        if text.len() > MAX_LENGTH {
            return Err(MeterTokenError::TooLong);
        }
        let accepted = |byte: u8| byte.is_ascii_alphanumeric() || byte == b' ' || byte == b'-';
        if text.bytes().all(accepted) {
            Ok(Self(text.to_owned()))
        } else {
            Err(MeterTokenError::BadCharacter)
        }
    }

    /// The text for the meter. The caller must not let it reach a log.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The text in groups of four characters, for reading and typing. A text that is already grouped is not changed.
    pub fn grouped(&self) -> String {
        if self.0.contains([' ', '-']) {
            return self.0.clone();
        }
        let mut grouped = String::with_capacity(self.0.len() * 5 / 4);
        for (index, character) in self.0.chars().enumerate() {
            if index > 0 && index % 4 == 0 {
                grouped.push(' ');
            }
            grouped.push(character);
        }
        grouped
    }
}

impl fmt::Debug for MeterToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("MeterToken(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_never_shows_in_debug_output() {
        let token = MeterToken::parse("08086259498974263587").unwrap();
        assert_eq!(format!("{token:?}"), "MeterToken(***)");
    }

    #[test]
    fn a_token_is_grouped_for_reading() {
        let token = MeterToken::parse("08086259498974263587").unwrap();
        assert_eq!(token.grouped(), "0808 6259 4989 7426 3587");
        for grouped in ["08086 25949 89742 63587", "VCH-1234-99"] {
            assert_eq!(MeterToken::parse(grouped).unwrap().grouped(), grouped);
        }
    }

    #[test]
    fn a_text_that_no_meter_accepts_is_not_a_token() {
        for (text, why) in [
            ("", MeterTokenError::Empty),
            ("   ", MeterTokenError::Empty),
            ("1234|5678", MeterTokenError::BadCharacter),
            ("12:34", MeterTokenError::BadCharacter),
            ("12\n34", MeterTokenError::BadCharacter),
            (&"1".repeat(65), MeterTokenError::TooLong),
        ] {
            assert_eq!(MeterToken::parse(text), Err(why));
        }
    }
}
