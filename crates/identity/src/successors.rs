//! Derives the pair of tokens for which a refresh token is exchanged.
//!
//! It is derived from the presented token (HMAC-SHA-256, RFC 2104, with a key of the deployment). So a client that lost
//! the answer can get the same pair again, although nothing readable is stored.

use std::fmt;

use directory::Environment;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{
    AccessToken, Credential, CredentialKind, IdentitySettingsError, RefreshToken,
    credential::{Access, Refresh},
};

/// The key with which successors are derived. It is the same in every process of a deployment.
#[derive(Clone)]
pub(crate) struct SuccessorKey(Zeroizing<[u8; 32]>);

impl SuccessorKey {
    pub(crate) fn from_hex(digits: &SecretString) -> Result<Self, IdentitySettingsError> {
        let mut key = Zeroizing::new([0; 32]);
        hex::decode_to_slice(digits.expose_secret(), key.as_mut_slice())
            .map_err(|_names_a_digit| IdentitySettingsError::Key)?;
        Ok(Self(key))
    }

    /// The tokens that follow `presented`.
    pub(crate) fn successors(
        &self,
        presented: &RefreshToken,
        environment: Environment,
    ) -> (AccessToken, RefreshToken) {
        (self.derive::<Access>(presented, environment), self.derive::<Refresh>(presented, environment))
    }

    fn derive<Kind: CredentialKind>(
        &self,
        presented: &RefreshToken,
        environment: Environment,
    ) -> Credential<Kind> {
        let mac = Hmac::<Sha256>::new_from_slice(self.0.as_slice());
        let mut mac = mac.expect("HMAC takes keys of any length");
        mac.update(Kind::MARK.as_bytes());
        mac.update(presented.expose().as_bytes());
        let bytes: Zeroizing<[u8; 32]> = Zeroizing::new(mac.finalize().into_bytes().into());
        Credential::from_bytes(environment, &bytes)
    }
}

impl fmt::Debug for SuccessorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SuccessorKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(digits: &str) -> SuccessorKey {
        SuccessorKey::from_hex(&digits.repeat(32).into()).unwrap()
    }

    fn presented(byte: u8) -> RefreshToken {
        RefreshToken::from_bytes(Environment::Staging, &[byte; 32])
    }

    #[test]
    fn the_same_token_has_the_same_successors_and_every_other_has_others() {
        let texts = |key: &SuccessorKey, byte| {
            let (access, refresh) = key.successors(&presented(byte), Environment::Staging);
            [access.expose().to_owned(), refresh.expose().to_owned()]
        };
        let mine = texts(&key("a1"), 1);
        assert_eq!(texts(&key("a1"), 1), mine);
        for others in [texts(&key("a1"), 2), texts(&key("b2"), 1)] {
            assert_ne!(others[0], mine[0]);
            assert_ne!(others[1], mine[1]);
        }
        assert_ne!(mine[0][11..], mine[1][11..], "the access token must not reveal the refresh token");
    }

    #[test]
    fn a_malformed_key_is_refused_and_a_good_one_cannot_be_read() {
        assert!(SuccessorKey::from_hex(&"abc".into()).is_err());
        assert_eq!(format!("{:?}", key("a1")), "SuccessorKey(..)");
    }
}
