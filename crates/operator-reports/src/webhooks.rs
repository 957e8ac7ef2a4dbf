//! `vendctl webhooks`: where an organisation wants its events sent, and whether they arrive.

use clap::Subcommand;
use oversight::{WebhookFailure, WebhookRecord};
use serde::Serialize;

use crate::{
    error::VendctlError,
    reason::Whose,
    report::{Report, Row, instant, or_dash},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the webhook endpoints of an organisation, with their state and their last failure
    #[command(
        after_help = "Only the server of an address is shown, because its path may contain a secret of the integrator.\n\n\
                      Example:\n  vendctl webhooks list -o KGALE"
    )]
    List {
        #[command(flatten)]
        whose: Whose,
    },
}

#[derive(Serialize)]
struct View {
    id: i64,
    server: String,
    description: Option<String>,
    status: String,
    status_since: String,
    switched_off_because: Option<String>,
    failing_since: Option<String>,
    last_failure_at: Option<String>,
    last_failure: Option<String>,
}

pub async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List { whose } => {
            let organisation = session.organisation_id(&whose.organisation).await?;
            let found = oversight::oversee_webhooks(session.database(), organisation).await?;
            Ok(Report::list(&found.into_iter().map(View::from).collect::<Vec<_>>()))
        }
    }
}

impl From<WebhookRecord> for View {
    fn from(record: WebhookRecord) -> Self {
        let (last_failure_at, last_failure) = record.last_failure.unzip();
        let said = |failure| match failure {
            WebhookFailure::Status(status) => format!("HTTP {status}"),
            WebhookFailure::NoAnswer(why) => why,
        };
        Self {
            id: record.id,
            server: record.server,
            description: record.description,
            status: record.status,
            status_since: instant(record.status_since),
            switched_off_because: record.switched_off_because,
            failing_since: record.failing_since.map(instant),
            last_failure_at: last_failure_at.map(instant),
            last_failure: last_failure.map(said),
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] =
        &["id", "server", "status", "since", "because", "failing since", "last failure", "failed with"];
    const MOMENTS: &'static [&'static str] = &["since", "failing since", "last failure"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.server.clone(),
            self.status.clone(),
            self.status_since.clone(),
            or_dash(self.switched_off_because.as_deref()),
            or_dash(self.failing_since.as_deref()),
            or_dash(self.last_failure_at.as_deref()),
            or_dash(self.last_failure.as_deref()),
        ]
    }
}
