//! The identifier of a subscriber: a meter number, a phone number or an account number.

use std::fmt;

/// Why a text is not a subscriber identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubscriberIdentifierError {
    /// The text is empty.
    #[error("the subscriber identifier is empty")]
    Empty,
    /// The text is longer than any identifier in use.
    #[error("the subscriber identifier has more than {max} characters", max = SubscriberIdentifier::LENGTH_MAX)]
    TooLong,
    /// The text has a character other than ASCII letters, digits, `+`, `-`, `.`, `_` and `/`.
    #[error("the subscriber identifier has a character that no provider uses")]
    BadCharacter,
}

/// The number of a meter, a phone or a customer, in the widest form that any product accepts. A product may restrict it
/// further.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriberIdentifier(String);

impl SubscriberIdentifier {
    /// The maximum number of characters of an identifier.
    pub const LENGTH_MAX: usize = 40;

    /// Takes 1 to 40 characters: ASCII letters, digits, `+`, `-`, `.`, `_` and `/`.
    pub fn parse(text: &str) -> Result<Self, SubscriberIdentifierError> {
        if text.is_empty() {
            return Err(SubscriberIdentifierError::Empty);
        }
        if text.len() > Self::LENGTH_MAX {
            return Err(SubscriberIdentifierError::TooLong);
        }
        let in_use = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._/".contains(&byte);
        if text.bytes().all(in_use) {
            Ok(Self(text.to_owned()))
        } else {
            Err(SubscriberIdentifierError::BadCharacter)
        }
    }

    /// The text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SubscriberIdentifier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_short_and_plain() {
        assert_eq!(SubscriberIdentifier::parse("04257670465").unwrap().as_str(), "04257670465");
        assert_eq!(SubscriberIdentifier::parse(""), Err(SubscriberIdentifierError::Empty));
        assert_eq!(SubscriberIdentifier::parse(&"1".repeat(41)), Err(SubscriberIdentifierError::TooLong));
        for text in ["04257 670465", "0425\n", "0425<", "04\0", "٠٤"] {
            assert_eq!(SubscriberIdentifier::parse(text), Err(SubscriberIdentifierError::BadCharacter));
        }
    }
}
