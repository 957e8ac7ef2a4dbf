//! Digests that cannot be guessed.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

/// What makes the digests of one certificate unguessable. Only the organisation that bought gets it.
#[derive(Clone, PartialEq, Eq)]
pub struct Salt([u8; Salt::LENGTH]);

/// Something of which a certificate has the digest. Its name is hashed too, so that one digest does not stand for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digested {
    /// The token or tokens, as `product.token` of the purchase has them.
    Token,
    /// The subscriber identifier.
    Subscriber,
}

impl Salt {
    /// The length of a salt in bytes.
    pub const LENGTH: usize = 32;

    /// A salt of these bytes.
    pub const fn new(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }

    /// Its bytes, for storing them sealed.
    pub const fn bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }

    /// The text form that the organisation gets: base64url without padding.
    pub fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// HMAC-SHA256 with the salt as its key, over the name of what it is, a colon and the text. In base64url without padding.
    pub fn digest(&self, what: Digested, text: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        URL_SAFE_NO_PAD.encode(hmac::sign(&key, format!("{}:{text}", what.as_str()).as_bytes()))
    }
}

impl Digested {
    /// The name that is hashed.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Subscriber => "subscriber",
        }
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Salt(***)")
    }
}
