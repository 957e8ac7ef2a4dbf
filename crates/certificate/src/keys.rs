//! The keys that sign, their public halves, and the set of them that verifiers read.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ED25519_PUBLIC_KEY_LEN, Ed25519KeyPair, KeyPair};
use ring::{digest, hmac};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::{Facts, NotCanonical, Salt, canonical_json, facts::Payload, jws};

/// A key that signs certificates. `Debug` shows its public half.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    salts: hmac::Key,
}

/// The key that verifies a certificate. It is no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; PublicKey::LENGTH]);

/// The name of a key: the thumbprint of its public half (RFC 7638), so that no two keys have one name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyId(String);

/// A certificate as it was issued, with what the organisation needs beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The JWS in the compact form.
    pub certificate: String,
    /// The salt of its digests.
    pub salt: Salt,
    /// The key that verifies it.
    pub public_key: PublicKey,
}

/// The text is no key. It is not repeated, because it may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the public key must have 32 bytes")]
pub struct MalformedKey;

/// The members of a JWK that make its thumbprint, in the order of their names.
#[derive(Serialize)]
struct Thumbprint<'a> {
    crv: &'static str,
    kty: &'static str,
    x: &'a str,
}

#[derive(Serialize)]
struct Jwk {
    alg: &'static str,
    crv: &'static str,
    kid: String,
    kty: &'static str,
    r#use: &'static str,
    x: String,
}

#[derive(Serialize)]
struct KeySet {
    keys: Vec<Jwk>,
}

impl SigningKey {
    /// The length of a seed in bytes.
    pub const SEED_LENGTH: usize = 32;

    /// The key that these random bytes determine.
    pub fn from_seed(seed: &[u8; Self::SEED_LENGTH]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).expect("a seed of 32 bytes is a key");
        // A key of its own, so that a salt tells nothing about the signing key.
        let salts = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, seed), b"vendgate certificate salts");
        let salts = Zeroizing::new(salts.as_ref().to_vec());
        Self { pair, salts: hmac::Key::new(hmac::HMAC_SHA256, &salts) }
    }

    /// Its public half.
    pub fn public_key(&self) -> PublicKey {
        self.pair.public_key().as_ref().try_into().expect("a public key of Ed25519 has 32 bytes")
    }

    /// Certifies these facts. The same key gives the same certificate for the same facts.
    ///
    /// # Errors
    /// [`NotCanonical`] when a number is not exact as a double.
    pub fn certify(&self, facts: &Facts<'_>) -> Result<Issued, NotCanonical> {
        let (salt, public_key) = (self.salt(facts.purchase), self.public_key());
        let payload = canonical_json(&Payload::of(facts, &salt))?;
        let header = jws::header(&public_key.id())?;
        let certificate = jws::signed(&header, &payload, |signed| self.pair.sign(signed).as_ref().to_vec());
        Ok(Issued { certificate, salt, public_key })
    }

    /// The salt of a purchase. It is not random, so that a certificate that was lost with its database is issued again as it was.
    fn salt(&self, purchase: i64) -> Salt {
        let made = hmac::sign(&self.salts, &purchase.to_be_bytes());
        Salt::new(made.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }
}

impl PublicKey {
    /// The length of a key in bytes.
    pub const LENGTH: usize = ED25519_PUBLIC_KEY_LEN;

    /// Its bytes.
    pub const fn bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }

    /// Its name, `kid` in certificates and in the key set.
    pub fn id(&self) -> KeyId {
        let x = URL_SAFE_NO_PAD.encode(self.0);
        let members = canonical_json(&Thumbprint { crv: jws::CURVE, kty: jws::KEY_TYPE, x: &x });
        let members = members.expect("texts are always canonical");
        KeyId(URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, members.as_bytes())))
    }

    fn jwk(&self) -> Jwk {
        Jwk {
            alg: jws::ALGORITHM,
            crv: jws::CURVE,
            kid: self.id().0,
            kty: jws::KEY_TYPE,
            r#use: "sig",
            x: URL_SAFE_NO_PAD.encode(self.0),
        }
    }
}

impl TryFrom<&[u8]> for PublicKey {
    type Error = MalformedKey;

    fn try_from(bytes: &[u8]) -> Result<Self, MalformedKey> {
        bytes.try_into().map(Self).map_err(|_other_length| MalformedKey)
    }
}

impl KeyId {
    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The JSON Web Key Set of these keys (RFC 7517).
pub fn key_set(keys: &[PublicKey]) -> String {
    let set = KeySet { keys: keys.iter().map(PublicKey::jwk).collect() };
    canonical_json(&set).expect("texts are always canonical")
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SigningKey").field("id", &self.public_key().id()).finish_non_exhaustive()
    }
}
