//! The keys of one endpoint, and their text forms.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use ring::signature::{ED25519_PUBLIC_KEY_LEN, Ed25519KeyPair, KeyPair};
use zeroize::Zeroizing;

const SECRET_PREFIX: &str = "whsec_";
const PUBLIC_KEY_PREFIX: &str = "whpk_";

/// How many bytes the secret of an endpoint has here. The specification allows 24 to 64.
const SECRET_LENGTH: usize = 32;

/// The sizes of a secret that the specification allows, in bytes.
const SECRET_LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// The two keys with which messages to one endpoint are signed: a secret that the receiver has too, and an Ed25519 key pair of
/// which it has only the public half.
pub struct SigningKeys {
    pub(crate) shared: hmac::Key,
    pub(crate) pair: Ed25519KeyPair,
    random: Zeroizing<[u8; SigningKeys::LENGTH]>,
}

/// The key with which a receiver verifies a signature.
#[derive(Clone)]
pub enum VerifyingKey {
    /// The secret of the endpoint, for the scheme `v1`.
    Secret(hmac::Key),
    /// The public key of the endpoint, for the scheme `v1a`.
    Public([u8; ED25519_PUBLIC_KEY_LEN]),
}

/// The text is no key of an endpoint. Its content is not repeated, because it may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key must be `whsec_` with 24 to 64 bytes in Base64, or `whpk_` with 32 bytes in Base64")]
pub struct MalformedKey;

impl SigningKeys {
    /// How many random bytes the keys are made from.
    pub const LENGTH: usize = 64;

    /// The keys that these random bytes determine: first the secret, then the seed of the key pair.
    pub fn from_random(random: &[u8; Self::LENGTH]) -> Self {
        let (secret, seed) = random.split_at(SECRET_LENGTH);
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).expect("a seed of 32 bytes is a key");
        Self { shared: shared(secret), pair, random: Zeroizing::new(*random) }
    }

    /// The random bytes that determine the keys, for storing them sealed.
    pub const fn random(&self) -> &Zeroizing<[u8; Self::LENGTH]> {
        &self.random
    }

    /// The secret as the receiver gets it, such as `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`. To be shown once and never logged.
    pub fn secret(&self) -> Zeroizing<String> {
        let (secret, _seed) = self.random.split_at(SECRET_LENGTH);
        Zeroizing::new(format!("{SECRET_PREFIX}{}", STANDARD.encode(secret)))
    }

    /// The public key as the receiver gets it: `whpk_` and 32 bytes in Base64. It is no secret.
    pub fn public_key(&self) -> String {
        format!("{PUBLIC_KEY_PREFIX}{}", STANDARD.encode(self.pair.public_key()))
    }
}

impl FromStr for VerifyingKey {
    type Err = MalformedKey;

    /// Reads either text form. As in the libraries of the specification, the prefix of a secret may be missing.
    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let decoded =
            |text: &str| STANDARD.decode(text).map(Zeroizing::new).map_err(|_names_bytes| MalformedKey);
        if let Some(public) = text.strip_prefix(PUBLIC_KEY_PREFIX) {
            let key = decoded(public)?;
            return key.as_slice().try_into().map(Self::Public).map_err(|_other_length| MalformedKey);
        }
        let secret = decoded(text.strip_prefix(SECRET_PREFIX).unwrap_or(text))?;
        SECRET_LENGTHS.contains(&secret.len()).then(|| Self::Secret(shared(&secret))).ok_or(MalformedKey)
    }
}

impl fmt::Debug for SigningKeys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SigningKeys").field("public_key", &self.public_key()).finish_non_exhaustive()
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Secret(_) => "VerifyingKey::Secret",
            Self::Public(_) => "VerifyingKey::Public",
        })
    }
}

fn shared(secret: &[u8]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_an_endpoint_are_read_from_the_texts_that_its_owner_got() {
        let keys = SigningKeys::from_random(&[7; SigningKeys::LENGTH]);
        assert!(matches!(keys.secret().parse(), Ok(VerifyingKey::Secret(_))));
        assert!(matches!(keys.public_key().parse(), Ok(VerifyingKey::Public(_))));
        let again = SigningKeys::from_random(keys.random());
        assert_eq!((again.secret(), again.public_key()), (keys.secret(), keys.public_key()));
    }

    #[test]
    fn a_secret_has_24_to_64_bytes_and_a_public_key_32() {
        let (secret, public) = (
            |n| format!("whsec_{}", STANDARD.encode(vec![1; n])),
            |n| format!("whpk_{}", STANDARD.encode(vec![1; n])),
        );
        for accepted in [secret(24), secret(64), public(32)] {
            assert!(accepted.parse::<VerifyingKey>().is_ok(), "{accepted}");
        }
        for refused in [secret(23), secret(65), public(31), public(33), "whsec_!".to_owned(), String::new()] {
            assert_eq!(refused.parse::<VerifyingKey>().err(), Some(MalformedKey), "{refused}");
        }
    }

    #[test]
    fn a_key_does_not_show_its_secret() {
        let keys = SigningKeys::from_random(&[7; SigningKeys::LENGTH]);
        let shown = format!("{keys:?} {:?}", keys.secret().parse::<VerifyingKey>());
        assert!(shown.contains(&keys.public_key()), "{shown}");
        assert!(!shown.contains("BwcHBwcH"), "{shown}");
    }
}
