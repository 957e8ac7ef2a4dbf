//! `vendctl incidents`: vends that were found after their purchase had ended, and how each was closed.

use clap::Subcommand;
use oversight::IncidentRecord;
use serde::Serialize;

use crate::{
    arguments::Why,
    care::Care,
    error::VendctlError,
    report::{Report, Row, instant, or_dash, yes},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List open incidents, the newest first
    #[command(after_help = "Examples:\n  vendctl incidents list\n  vendctl incidents list --all --before 12")]
    List {
        /// Closed incidents too
        #[arg(long)]
        all: bool,
        /// The greatest number of incidents to show
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Only incidents before this one, for the next page
        #[arg(long, value_name = "ID")]
        before: Option<i64>,
    },
    /// Show one incident
    #[command(after_help = "Example:\n  vendctl incidents show 3")]
    Show {
        /// Its number
        incident: i64,
    },
    /// Close an incident that you have dealt with
    #[command(
        after_help = "Closing moves no money. Collect an amount from the wallet with `vendctl wallet adjust … --against \
                      suspense`. Tell your accountant about an amount that the provider waives.\n\nExample:\n  \
                      vendctl incidents close 3 --reason \"KGALE agreed; taken as INC-3\""
    )]
    Close {
        /// Its number
        incident: i64,
        #[command(flatten)]
        care: Care,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Serialize)]
struct View {
    id: i64,
    kind: &'static str,
    purchase: i64,
    organisation: String,
    provider: String,
    at: String,
    provider_transaction: String,
    has_token: bool,
    suspense: String,
    closed_at: Option<String>,
    closed_by: Option<String>,
    closed_because: Option<String>,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List { all, limit, before } => {
            let found = oversight::list_incidents(session.database(), *all, *before, *limit).await?;
            Ok(Report::list(&found.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::Show { incident } => show(session, *incident).await,
        Verb::Close { incident, care, why } => {
            let close = |is_rehearsal| {
                oversight::close_incident(session.database(), *incident, is_rehearsal, session.act(why))
            };
            close(true).await?;
            if care.dry_run {
                return Ok(show(session, *incident)
                    .await?
                    .noting("This was a rehearsal. Nothing was closed."));
            }
            care.ask(&format!("Incident {incident} is closed. This cannot be undone."))?;
            close(false).await?;
            show(session, *incident).await
        }
    }
}

async fn show(session: &Session, id: i64) -> Result<Report, VendctlError> {
    let found =
        oversight::find_incident(session.database(), id).await?.ok_or(VendctlError::NoIncident(id))?;
    let purchase = found.purchase.0;
    let report = Report::one(&View::from(found));
    Ok(report.noting(&format!("`vendctl purchases show {purchase}` shows its history.")))
}

impl From<IncidentRecord> for View {
    fn from(record: IncidentRecord) -> Self {
        let (closed_at, closed_by, closed_because) = match record.closed {
            Some((at, by, because)) => (Some(instant(at)), Some(by), Some(because)),
            None => (None, None, None),
        };
        Self {
            id: record.id,
            kind: record.kind.as_str(),
            purchase: record.purchase.0,
            organisation: record.organisation,
            provider: record.provider_code,
            at: instant(record.at),
            provider_transaction: record.provider_transaction,
            has_token: record.has_token,
            suspense: record.suspense.to_string(),
            closed_at,
            closed_by,
            closed_because,
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "kind",
        "purchase",
        "organisation",
        "provider",
        "at",
        "provider transaction",
        "token sealed",
        "in suspense",
        "closed by",
        "reason",
    ];
    const MOMENTS: &'static [&'static str] = &["at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.kind.to_owned(),
            self.purchase.to_string(),
            self.organisation.clone(),
            self.provider.clone(),
            self.at.clone(),
            self.provider_transaction.clone(),
            yes(self.has_token),
            self.suspense.clone(),
            or_dash(self.closed_by.as_deref()),
            or_dash(self.closed_because.as_deref()),
        ]
    }
}
