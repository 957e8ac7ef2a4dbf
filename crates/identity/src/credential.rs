//! Secrets and tokens: 256 random bits after a prefix that names their kind and their environment.
//!
//! The prefix lets a person, a log filter or a secret scanner recognise a credential. It also lets a server refuse
//! credentials of the other environment without a look-up.

use std::{fmt, marker::PhantomData};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use directory::{CredentialHash, Environment};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::{Entropy, EntropyError};

/// 32 bytes in URL-safe base64 without padding.
const BODY_LENGTH: usize = 43;

/// Lets a client open sessions. It is shown once, when it is made.
pub type ClientSecret = Credential<Secret>;
/// Identifies a caller, for fifteen minutes.
pub type AccessToken = Credential<Access>;
/// Can be exchanged once for the next pair of tokens.
pub type RefreshToken = Credential<Refresh>;

/// One secret text of the kind `Kind`. Its `Debug` shows only the kind.
#[derive(Clone)]
pub struct Credential<Kind> {
    text: SecretString,
    kind: PhantomData<fn() -> Kind>,
}

/// The purpose of a credential.
pub trait CredentialKind {
    /// The part of the prefix that names the kind.
    const MARK: &'static str;
}

#[derive(Debug, Clone)]
pub enum Secret {}

#[derive(Debug, Clone)]
pub enum Access {}

#[derive(Debug, Clone)]
pub enum Refresh {}

impl CredentialKind for Secret {
    const MARK: &'static str = "cs_";
}

impl CredentialKind for Access {
    const MARK: &'static str = "at_";
}

impl CredentialKind for Refresh {
    const MARK: &'static str = "rt_";
}

impl<Kind: CredentialKind> Credential<Kind> {
    /// Reads a credential of `environment`. `None` if it cannot be one.
    pub fn parse(text: &str, environment: Environment) -> Option<Self> {
        let body = text.strip_prefix(prefix(environment))?.strip_prefix(Kind::MARK)?;
        let shaped = body.len() == BODY_LENGTH
            && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        shaped.then(|| Self { text: text.into(), kind: PhantomData })
    }

    /// The text itself, for the only answer that contains it.
    pub fn expose(&self) -> &str {
        self.text.expose_secret()
    }

    pub(crate) fn generate(environment: Environment, entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        let mut bytes = Zeroizing::new([0; 32]);
        entropy.fill(bytes.as_mut_slice())?;
        Ok(Self::from_bytes(environment, &bytes))
    }

    pub(crate) fn from_bytes(environment: Environment, bytes: &[u8; 32]) -> Self {
        let body = Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes));
        let text =
            format!("{prefix}{mark}{body}", prefix = prefix(environment), mark = Kind::MARK, body = *body);
        Self { text: text.into(), kind: PhantomData }
    }

    pub(crate) fn hash(&self) -> CredentialHash {
        CredentialHash(Sha256::digest(self.expose()).into())
    }
}

impl<Kind: CredentialKind> fmt::Debug for Credential<Kind> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}…]", Kind::MARK)
    }
}

/// The prefix of everything that belongs to `environment`.
pub(crate) const fn prefix(environment: Environment) -> &'static str {
    match environment {
        Environment::Staging => "vg_test_",
        Environment::Production => "vg_live_",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> AccessToken {
        AccessToken::from_bytes(Environment::Staging, &[0xff; 32])
    }

    #[test]
    fn a_token_says_what_it_is_and_carries_256_bits() {
        assert_eq!(token().expose(), "vg_test_at___________________________________________8");
        assert_eq!(token().expose().len(), "vg_test_at_".len() + BODY_LENGTH);
    }

    #[test]
    fn a_credential_of_another_kind_or_environment_or_shape_is_none() {
        let text = token().expose().to_owned();
        assert!(AccessToken::parse(&text, Environment::Staging).is_some());
        assert!(AccessToken::parse(&text, Environment::Production).is_none());
        assert!(RefreshToken::parse(&text, Environment::Staging).is_none());
        for wrong in [&text[1..], &text[..text.len() - 1], "", "vg_test_at_", &text.replace('8', "é")] {
            assert!(AccessToken::parse(wrong, Environment::Staging).is_none(), "{wrong}");
        }
    }

    #[test]
    fn nothing_of_a_credential_can_be_read_in_a_log() {
        assert_eq!(format!("{:?}", token()), "[at_…]");
    }
}
