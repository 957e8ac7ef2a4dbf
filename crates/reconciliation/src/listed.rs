//! A vend as a provider's statement lists it.

use chrono::{DateTime, Utc};
use meter_token::TokenSet;
use money::Money;
use sha2::{Digest, Sha256};
use vend::Product;

/// A vend as a provider's statement lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedVend {
    /// Our reference of the order, as the provider received it.
    pub provider_reference: String,
    /// The provider's name for the vend.
    pub provider_transaction: String,
    /// When it was vended, by the provider's clock.
    pub vended_at: DateTime<Utc>,
    pub product: Product,
    pub subscriber_identifier: String,
    /// What we owe for it.
    pub net: Money,
    /// What the statement says of its token.
    pub token: ListedToken,
}

/// What a statement says of the token of a vend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListedToken {
    /// Nothing: there is none, or the provider does not list it.
    Absent,
    /// The tokens themselves.
    Tokens(TokenSet),
    /// The digest of its last token, as [`token_digest`] makes it.
    Digest([u8; 32]),
}

impl ListedToken {
    /// The digest by which it is compared.
    pub(crate) fn digest(&self) -> Option<[u8; 32]> {
        match self {
            Self::Absent => None,
            Self::Tokens(tokens) => Some(token_digest(tokens)),
            Self::Digest(digest) => Some(*digest),
        }
    }
}

/// SHA-256 of the last token, which carries the credit, without blanks and hyphens. Tokens before it change a key, and not every
/// statement has them.
pub fn token_digest(tokens: &TokenSet) -> [u8; 32] {
    Sha256::digest(tokens.ungrouped().pop().unwrap_or_default()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_one_digest_however_it_is_written_and_whatever_comes_before_it() {
        let digest = |text: &str| token_digest(&TokenSet::parse(text).unwrap());
        let plain = digest("08086259498974263587");
        assert_eq!(digest("0808 6259 4989 7426 3587"), plain);
        assert_eq!(digest("Key: 50193837188098045115|Credit: 0808-6259-4989-7426-3587"), plain);
        assert_ne!(digest("08086259498974263588"), plain);
    }
}
