//! `vendctl reconciliations`: the statements that were held against the books, and what each run found.

use clap::Subcommand;
use reconciliation::{Counts, DiscrepancyScope, ReconciliationRecord};
use serde::Serialize;

use crate::{
    error::VendctlError,
    found::beside,
    parse,
    report::{Report, Row, instant, or_dash},
    session::Session,
};

/// The discrepancies that are printed. All of them are kept.
pub const SHOWN: u16 = 1_000;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the runs of `vendctl reconcile`, the newest first
    #[command(
        after_help = "Examples:\n  vendctl reconciliations list\n  vendctl reconciliations list --provider BPC --before 12"
    )]
    List {
        /// Only of this provider
        #[arg(long, value_name = "CODE", value_parser = parse::provider_code)]
        provider: Option<String>,
        /// The greatest number of runs to show
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Only runs before this one, for the next page
        #[arg(long, value_name = "ID")]
        before: Option<i64>,
    },
    /// Show a run, and everything that it found
    #[command(after_help = "Example:\n  vendctl reconciliations show 12")]
    Show {
        /// Its number
        reconciliation: i64,
        /// Only discrepancies after this one, for the next page
        #[arg(long, value_name = "ID", default_value_t = 0)]
        after: i64,
    },
}

/// What a run counted. Each line of the statement is one of the four in the middle.
#[derive(Serialize)]
pub struct CountsView {
    reconciliation: Option<i64>,
    lines: i64,
    matched: i64,
    open: i64,
    only_theirs: i64,
    different: i64,
    only_ours: i64,
}

#[derive(Serialize)]
struct View {
    id: i64,
    provider: String,
    file: String,
    sha256: String,
    from: String,
    until: String,
    tolerance_s: i64,
    started_at: String,
    finished_at: Option<String>,
    by: String,
    login: String,
    reason: String,
    #[serde(flatten)]
    counts: CountsView,
}

pub async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List { provider, limit, before } => {
            let runs =
                reconciliation::list_reconciliations(session.database(), provider.clone(), *before, *limit);
            Ok(Report::list(&runs.await?.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::Show { reconciliation, after } => show(session, *reconciliation, *after).await,
    }
}

async fn show(session: &Session, id: i64, after: i64) -> Result<Report, VendctlError> {
    let found = reconciliation::find_reconciliation(session.database(), id).await?;
    let view = View::from(found.ok_or(VendctlError::NoReconciliation(id))?);
    let scope = DiscrepancyScope {
        run: Some(id),
        with_decided: true,
        after,
        limit: SHOWN,
        ..DiscrepancyScope::default()
    };
    let shown = reconciliation::list_discrepancies(session.database(), scope).await?;
    Ok(beside(&view, Report::one(&view).parts(), &shown))
}

impl CountsView {
    pub const fn new(reconciliation: Option<i64>, counts: &Counts) -> Self {
        let Counts { lines, matched, still_open, only_theirs, different, only_ours } = *counts;
        Self { reconciliation, lines, matched, open: still_open, only_theirs, different, only_ours }
    }

    pub fn sentence(&self) -> String {
        format!(
            "{} lines: {} matched, {} of open purchases, {} only theirs, {} different. {} only ours.\n",
            self.lines, self.matched, self.open, self.only_theirs, self.different, self.only_ours
        )
    }
}

impl From<ReconciliationRecord> for View {
    fn from(record: ReconciliationRecord) -> Self {
        let (finished_at, counts) = record.finished.map(|(at, counts)| (instant(at), counts)).unzip();
        Self {
            id: record.id,
            provider: record.provider_code,
            file: record.file_name,
            sha256: hex::encode(record.file_sha256),
            from: instant(record.period.from),
            until: instant(record.period.until),
            tolerance_s: record.period.tolerance.num_seconds(),
            started_at: instant(record.started_at),
            finished_at,
            by: record.actor,
            login: record.login,
            reason: record.reason,
            counts: CountsView::new(Some(record.id), &counts.unwrap_or_default()),
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "provider",
        "from",
        "until",
        "finished",
        "lines",
        "matched",
        "open",
        "only theirs",
        "different",
        "only ours",
        "by",
        "file",
        "reason",
    ];
    const MOMENTS: &'static [&'static str] = &["from", "until", "finished"];

    fn cells(&self) -> Vec<String> {
        let counts = &self.counts;
        let is_finished = self.finished_at.is_some();
        let count = |count: i64| if is_finished { count.to_string() } else { "-".to_owned() };
        vec![
            self.id.to_string(),
            self.provider.clone(),
            self.from.clone(),
            self.until.clone(),
            or_dash(self.finished_at.as_deref()),
            count(counts.lines),
            count(counts.matched),
            count(counts.open),
            count(counts.only_theirs),
            count(counts.different),
            count(counts.only_ours),
            self.by.clone(),
            self.file.clone(),
            self.reason.clone(),
        ]
    }
}
