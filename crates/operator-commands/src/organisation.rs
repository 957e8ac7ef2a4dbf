//! `vendctl organisation`: creates, suspends and readmits organisations, and sets how their receipts end.

use clap::Subcommand;
use identity::{Environment, OrganisationRecord, Party, Status};
use serde::Serialize;

use crate::{
    arguments::Why,
    error::VendctlError,
    parse,
    report::{Report, Row, instant, or_dash},
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
    /// Set the lines with which an organisation's receipts end
    #[command(
        after_help = "Examples:\n  vendctl organisation set-receipt-footer KGALE --line \"Plot 7, Gaborone\" --line \
                      \"Tel. 71 234 567\" --reason \"their letter of 12 May\"\n  vendctl organisation \
                      set-receipt-footer KGALE --none --reason \"they moved\""
    )]
    SetReceiptFooter {
        /// Its code
        #[arg(value_parser = parse::organisation_code)]
        code: String,
        /// One line; at most four, in their order
        #[arg(long = "line", required_unless_present = "none", value_parser = parse::footer_line)]
        lines: Vec<String>,
        /// No footer
        #[arg(long, conflicts_with = "lines")]
        none: bool,
        #[command(flatten)]
        why: Why,
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
    receipt_footer: Option<String>,
}

/// The maximum number of lines of a footer. With their longest lines they fit into the column.
const FOOTER_LINES_MAX: usize = 4;

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
        Verb::SetReceiptFooter { code, lines, none: _, why } => {
            set_receipt_footer(session, code, lines, why).await
        }
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

async fn set_receipt_footer(
    session: &Session,
    code: &str,
    lines: &[String],
    why: &Why,
) -> Result<Report, VendctlError> {
    if lines.len() > FOOTER_LINES_MAX {
        return Err(VendctlError::TooManyFooterLines { limit: FOOTER_LINES_MAX });
    }
    let organisation = session.organisation(code).await?.id;
    let footer = Some(lines.join("\n")).filter(|footer| !footer.is_empty());
    session.onboarding.set_receipt_footer(organisation, footer, session.act(why)).await?;
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
            receipt_footer: record.receipt_footer,
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] =
        &["id", "code", "name", "environment", "status", "created at", "receipt footer"];
    const MOMENTS: &'static [&'static str] = &["created at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.code.clone(),
            self.name.clone(),
            self.environment.to_owned(),
            self.status.to_owned(),
            self.created_at.clone(),
            or_dash(self.receipt_footer.as_deref().map(|footer| footer.replace('\n', " / ")).as_deref()),
        ]
    }
}
