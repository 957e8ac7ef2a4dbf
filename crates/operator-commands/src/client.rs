//! `vendctl client`: the OAuth clients of an organisation.

use clap::Subcommand;
use identity::{ClientRecord, Party, SecretRecord, Status};
use serde::Serialize;

use crate::{
    arguments::{Whose, Why},
    error::VendctlError,
    parse,
    report::{Report, Row, instant},
    session::Session,
};

/// The note under every secret that is shown.
pub(crate) const NEVER_AGAIN: &str =
    "Hand the secret over now: it is never shown again. Replace a lost secret with `vendctl secret rotate`.";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Create a client, and show its secret once
    #[command(
        after_help = "Example:\n  vendctl client create -o KGALE --name tills --reason \"contract 17\""
    )]
    Create {
        #[command(flatten)]
        whose: Whose,
        /// Its display name
        #[arg(long, value_parser = parse::name)]
        name: String,
        #[command(flatten)]
        why: Why,
    },
    /// List an organisation's clients
    #[command(after_help = "Example:\n  vendctl client list -o KGALE")]
    List {
        #[command(flatten)]
        whose: Whose,
    },
    /// Show a client, and when its secrets were created and end; never the secrets
    #[command(after_help = "Example:\n  vendctl client show vg_test_0123456789abcdef01234567")]
    Show {
        /// Its client id
        #[arg(value_parser = parse::client_id)]
        client_id: String,
    },
    /// Suspend a client: its tokens are refused at once where money moves, elsewhere within seconds
    #[command(
        after_help = "Example:\n  vendctl client suspend vg_test_0123456789abcdef01234567 --reason \"tills were stolen\""
    )]
    Suspend {
        /// Its client id
        #[arg(value_parser = parse::client_id)]
        client_id: String,
        #[command(flatten)]
        why: Why,
    },
    /// Lift the suspension of a client
    #[command(
        after_help = "Example:\n  vendctl client readmit vg_test_0123456789abcdef01234567 --reason \"tills were found\""
    )]
    Readmit {
        /// Its client id
        #[arg(value_parser = parse::client_id)]
        client_id: String,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Serialize)]
struct View {
    id: i64,
    client_id: String,
    name: String,
    status: &'static str,
    created_at: String,
    secrets: Vec<SecretView>,
}

#[derive(Serialize)]
struct SecretView {
    id: i64,
    created_at: String,
    expires_at: Option<String>,
    revoked_at: Option<String>,
}

/// Not `Debug`: it holds a secret.
#[derive(Serialize)]
struct Created {
    id: i64,
    client_id: String,
    secret_id: i64,
    client_secret: String,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Create { whose, name, why } => {
            let made = session.onboarding.create_client(&whose.organisation, name, session.act(why)).await?;
            let client_secret = session.shown_once(made.secret.expose());
            let created = Created {
                id: made.id,
                client_id: session.shown_once(&made.client_id),
                secret_id: made.secret_id,
                client_secret,
            };
            Ok(session.handing_over(Report::one(&created), NEVER_AGAIN))
        }
        Verb::List { whose } => {
            let clients = session.onboarding.clients(&whose.organisation).await?;
            Ok(Report::list(&clients.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::Show { client_id } => show(session, client_id).await,
        Verb::Suspend { client_id, why } => set_status(session, client_id, Status::Suspended, why).await,
        Verb::Readmit { client_id, why } => set_status(session, client_id, Status::Active, why).await,
    }
}

/// The client, and its secrets without their values.
pub(crate) async fn show(session: &Session, client_id: &str) -> Result<Report, VendctlError> {
    Ok(Report::one(&View::from(session.onboarding.client(client_id).await?)))
}

async fn set_status(
    session: &Session,
    client_id: &str,
    status: Status,
    why: &Why,
) -> Result<Report, VendctlError> {
    let party = Party::Client(session.onboarding.client(client_id).await?.id);
    session.onboarding.set_status(party, status, session.act(why)).await?;
    show(session, client_id).await
}

impl From<ClientRecord> for View {
    fn from(record: ClientRecord) -> Self {
        Self {
            id: record.id,
            client_id: record.client_id,
            name: record.name,
            status: record.status.code(),
            created_at: instant(record.created_at),
            secrets: record.secrets.into_iter().map(SecretView::from).collect(),
        }
    }
}

impl From<SecretRecord> for SecretView {
    fn from(record: SecretRecord) -> Self {
        Self {
            id: record.id,
            created_at: instant(record.created_at),
            expires_at: record.expires_at.map(instant),
            revoked_at: record.revoked_at.map(instant),
        }
    }
}

impl SecretView {
    /// One secret as text: its number, when it was created, and its end.
    fn in_words(&self) -> String {
        let end = match (&self.revoked_at, &self.expires_at) {
            (Some(at), _) => format!(", revoked {at}"),
            (None, Some(at)) => format!(", ends {at}"),
            (None, None) => String::new(),
        };
        format!("#{} of {}{end}", self.id, self.created_at)
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &["id", "client id", "name", "status", "created at", "secrets"];
    const MOMENTS: &'static [&'static str] = &["created at", "secrets"];

    fn cells(&self) -> Vec<String> {
        let secrets: Vec<String> = self.secrets.iter().map(SecretView::in_words).collect();
        vec![
            self.id.to_string(),
            self.client_id.clone(),
            self.name.clone(),
            self.status.to_owned(),
            self.created_at.clone(),
            secrets.join("\n"),
        ]
    }
}

impl Row for Created {
    const COLUMNS: &'static [&'static str] = &["id", "client id", "secret id", "client secret"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.client_id.clone(),
            self.secret_id.to_string(),
            self.client_secret.clone(),
        ]
    }
}
