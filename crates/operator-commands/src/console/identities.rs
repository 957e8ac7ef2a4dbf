//! `vendctl console identity`: which identities at an OpenID provider are which login.

use clap::{Args, Subcommand};
use database::DatabaseError;
use directory::{
    ConsoleIdentity, Identity, add_console_identity, list_console_identities, remove_console_identity,
};
use serde::Serialize;

use crate::{
    arguments::Why,
    error::VendctlError,
    parse,
    report::{Report, Row, instant},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the identities, and whose each is
    #[command(after_help = "Example:\n  vendctl console identity list")]
    List,
    /// Add an identity of yours: who signs in with it acts as you
    #[command(
        after_help = "The console says the issuer and the subject of an account that no operator has added. Add no other \
                      than your own: a person who has it acts as you. No other person can add it for you.\n\nExample:\n  \
                      vendctl console identity add https://id.example 248289761001 --reason \"my account\""
    )]
    Add {
        #[command(flatten)]
        named: Named,
        #[command(flatten)]
        why: Why,
    },
    /// Remove an identity of yours, or as an administrator anyone's
    #[command(
        after_help = "Sessions that are open go on until they end.\n\nExample:\n  vendctl console identity remove \
                      https://id.example 248289761001 --reason \"left the company\""
    )]
    Remove {
        #[command(flatten)]
        named: Named,
        #[command(flatten)]
        why: Why,
    },
}

/// An identity as it is typed.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The OpenID provider, exactly as it names itself
    #[arg(value_name = "ISSUER", value_parser = parse::part_of_identity)]
    issuer: String,
    /// The person, as the provider names one in its tokens (`sub`)
    #[arg(value_name = "SUBJECT", value_parser = parse::part_of_identity)]
    subject: String,
}

#[derive(Serialize)]
struct View {
    login: String,
    issuer: String,
    subject: String,
    added_at: String,
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &["login", "issuer", "subject", "added at"];
    const MOMENTS: &'static [&'static str] = &["added at"];

    fn cells(&self) -> Vec<String> {
        vec![self.login.clone(), self.issuer.clone(), self.subject.clone(), self.added_at.clone()]
    }
}

impl From<ConsoleIdentity> for View {
    fn from(ConsoleIdentity { identity, login, added_at }: ConsoleIdentity) -> Self {
        Self { login, issuer: identity.issuer, subject: identity.subject, added_at: instant(added_at) }
    }
}

impl Named {
    fn identity(&self) -> Identity {
        Identity { issuer: self.issuer.clone(), subject: self.subject.clone() }
    }
}

/// Carries out the command. Each one shows the list as it is afterwards.
pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    let database = session.database();
    match verb {
        Verb::List => {}
        Verb::Add { named, why } => {
            if !add_console_identity(database, named.identity(), session.act(why)).await? {
                return Err(VendctlError::IdentityTaken);
            }
        }
        Verb::Remove { named, why } => {
            let removed = remove_console_identity(database, named.identity(), session.act(why)).await?;
            removed.ok_or(VendctlError::NoIdentity)?;
        }
    }
    let listed = list_console_identities(database).await?;
    Ok(Report::list(&listed.into_iter().map(View::from).collect::<Vec<_>>()))
}

/// Why the console has no session of this login. The console itself is connected, so the server is there.
pub(crate) fn no_session_of(login: String, error: VendctlError) -> VendctlError {
    if let VendctlError::Database(source @ DatabaseError::Unavailable { .. }) = error {
        return VendctlError::NotLetIn { login, source };
    }
    // Without any role a login may not read what every program reads first.
    if matches!(&error, VendctlError::Database(error) if error.is_forbidden()) {
        return VendctlError::NoOperator(login);
    }
    error
}
