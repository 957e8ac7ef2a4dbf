//! `vendctl console`: the ways in which the operator signs in to the console in a browser.

pub(crate) mod identities;

use clap::Subcommand;
use database::{Credentials, DatabaseSettings};
use directory::{CredentialHash, take_console_link};
use identity::{Entropy, SystemEntropy};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use sha2::{Digest, Sha256};
use store::{Aad, Sealed, SealingKey, SealingKeys};

use crate::{
    error::VendctlError,
    report::{Report, Row},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Print a link that signs you in to the console, once, within five minutes
    #[command(after_help = "Who opens the link acts as you, so give it to no other person. The console \
                      connects to the database with it while you are signed in. The link begins with console_url of the \
                      settings.\n\nExample:\n  vendctl console link")]
    Link,
    /// The identities at an OpenID provider with which operators sign in to the console
    #[command(visible_alias = "identities")]
    Identity {
        #[command(subcommand)]
        verb: identities::Verb,
    },
}

/// The length of a secret, in bytes.
const SECRET_BYTES: usize = 32;

/// A link has a key of its own, which seals one value. So its number and its row say nothing.
const KEY_ID: i32 = 1;
const PLACE: Aad = Aad { row_id: 0, column: "console_links.sealed" };

#[derive(Serialize)]
struct View {
    link: String,
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &["link"];

    fn cells(&self) -> Vec<String> {
        vec![self.link.clone()]
    }
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Link => Ok(Report::one(&View { link: link(session).await? })),
        Verb::Identity { verb } => identities::run(session, verb).await,
    }
}

/// A link of the session's login.
pub(crate) async fn link(session: &Session) -> Result<String, VendctlError> {
    let credentials = session.database().settings().credentials()?.ok_or(VendctlError::NoPasswordToSeal)?;
    let mut secret = [0; SECRET_BYTES];
    SystemEntropy.fill(&mut secret)?;
    let sealed = keys(&secret)?.seal(credentials.password.expose_secret().as_bytes(), PLACE)?;
    directory::enter_console_link(session.database(), digest(&secret), sealed.bytes).await?;
    Ok(format!("{}/sign-in?link={}", session.console_url(), hex::encode(secret)))
}

/// Takes the link with this secret. Returns the settings of a connection of the person who made it.
pub(crate) async fn redeem(
    console: &database::Database,
    secret: &SecretString,
) -> Result<DatabaseSettings, VendctlError> {
    let mut bytes = [0; SECRET_BYTES];
    hex::decode_to_slice(secret.expose_secret(), &mut bytes)
        .map_err(|_names_a_digit| VendctlError::NoLink)?;
    let link = take_console_link(console, digest(&bytes)).await?.ok_or(VendctlError::NoLink)?;
    let opened = keys(&bytes)?.open(&Sealed { key_id: KEY_ID, bytes: link.sealed }, PLACE)?;
    let password = str::from_utf8(&opened).map_err(|_not_text| VendctlError::NoLink)?;
    let credentials = Credentials { login: link.login, password: password.into() };
    Ok(console.settings().clone().used_by(&credentials))
}

fn digest(secret: &[u8]) -> CredentialHash {
    CredentialHash(Sha256::digest(secret).into())
}

/// The key is another digest of the secret than the one that is stored.
fn keys(secret: &[u8]) -> Result<SealingKeys, VendctlError> {
    let key: [u8; 32] = Sha256::new().chain_update(b"console link").chain_update(secret).finalize().into();
    Ok(SealingKeys::try_new(SealingKey::new(KEY_ID, &key), Vec::new())?)
}
