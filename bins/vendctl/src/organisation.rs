//! `vendctl organisation`: creates, suspends and readmits organisations.

use clap::Subcommand;
use identity::{Environment, OrganisationRecord, Party, Status};
use serde::Serialize;

use crate::{
    arguments::Why,
    error::VendctlError,
    parse,
    report::{Report, Row, instant},
    session::Session,
    words,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Create an organisation
    #[command(
        after_help = "Example:\n  vendctl organisation create KGALE --name \"Kgale Stores\" --environment staging \
                      --reason \"contract 17\""
    )]
    Create {
        /// The code that its users log in with: letters, digits, `_` and `-`
        #[arg(value_parser = parse::organisation_code)]
        code: String,
        /// Its display name
        #[arg(long, value_parser = parse::name)]
        name: String,
        /// The environment of its credentials; it cannot be changed
        #[arg(long, value_parser = words::environment())]
        environment: Environment,
        #[command(flatten)]
        why: Why,
    },
    /// List all organisations
    #[command(after_help = "Example:\n  vendctl organisation list --json")]
    List,
    /// Show one organisation
    #[command(after_help = "Example:\n  vendctl organisation show KGALE")]
    Show {
        /// Its code
        #[arg(value_parser = parse::organisation_code)]
        code: String,
    },
    /// Suspend an organisation: it can buy nothing from now on
    #[command(
        after_help = "Example:\n  vendctl organisation suspend KGALE --reason \"invoice 12 is overdue\""
    )]
    Suspend {
        /// Its code
        #[arg(value_parser = parse::organisation_code)]
        code: String,
        #[command(flatten)]
        why: Why,
    },
    /// Lift the suspension of an organisation
    #[command(after_help = "Example:\n  vendctl organisation readmit KGALE --reason \"invoice 12 is paid\"")]
    Readmit {
        /// Its code
        #[arg(value_parser = parse::organisation_code)]
        code: String,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Serialize)]
struct View {
    id: i64,
    code: String,
    name: String,
    environment: &'static str,
    status: &'static str,
    created_at: String,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Create { code, name, environment, why } => {
            session.onboarding.create_organisation(code, name, *environment, session.act(why)).await?;
            show(session, code).await
        }
        Verb::List => {
            let all = session.onboarding.organisations().await?;
            Ok(Report::list(&all.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::Show { code } => show(session, code).await,
        Verb::Suspend { code, why } => set_status(session, code, Status::Suspended, why).await,
        Verb::Readmit { code, why } => set_status(session, code, Status::Active, why).await,
    }
}

async fn set_status(
    session: &Session,
    code: &str,
    status: Status,
    why: &Why,
) -> Result<Report, VendctlError> {
    let party = Party::Organisation(session.organisation(code).await?.id);
    session.onboarding.set_status(party, status, session.act(why)).await?;
    show(session, code).await
}

async fn show(session: &Session, code: &str) -> Result<Report, VendctlError> {
    Ok(Report::one(&View::from(session.organisation(code).await?)))
}

impl From<OrganisationRecord> for View {
    fn from(record: OrganisationRecord) -> Self {
        Self {
            id: record.id,
            code: record.code,
            name: record.name,
            environment: record.environment.code(),
            status: record.status.code(),
            created_at: instant(record.created_at),
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &["id", "code", "name", "environment", "status", "created at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.code.clone(),
            self.name.clone(),
            self.environment.to_owned(),
            self.status.to_owned(),
            self.created_at.clone(),
        ]
    }
}
