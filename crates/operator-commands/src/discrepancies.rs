//! `vendctl discrepancies`: what statements of providers and the books do not agree about, and how each was closed.

use clap::Subcommand;
use reconciliation::{DiscrepancyKind, DiscrepancyRecord, DiscrepancyScope};
use serde::Serialize;

use crate::{
    arguments::Why,
    care::Care,
    error::VendctlError,
    parse,
    report::{Part, Report, Row, instant, or_dash},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the discrepancies that are not closed, the oldest first
    #[command(
        after_help = "Examples:\n  vendctl discrepancies list\n  vendctl discrepancies list --provider BPC --all --after 50"
    )]
    List {
        /// Only of this provider
        #[arg(long, value_name = "CODE", value_parser = parse::provider_code)]
        provider: Option<String>,
        /// Closed ones too
        #[arg(long)]
        all: bool,
        /// The greatest number of discrepancies to show
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Only discrepancies after this one, for the next page
        #[arg(long, value_name = "ID", default_value_t = 0)]
        after: i64,
    },
    /// Close discrepancies that you have dealt with: all, or none of them
    #[command(
        after_help = "Closing moves no money. A vend that only the provider has is closed by itself when it is decided as an \
                      unmatched vend: `vendctl recover enter`, then `charge` or `waive`.\n\nExample:\n  vendctl discrepancies \
                      close 3 4 --reason \"BPC's mail of 2 May: their list was wrong\""
    )]
    Close {
        /// Their numbers
        #[arg(required = true, num_args = 1..=1000)]
        discrepancies: Vec<i64>,
        #[command(flatten)]
        care: Care,
        #[command(flatten)]
        why: Why,
    },
}

const REHEARSED: &str = "This was a rehearsal. Nothing was closed. Above are those that would be.";

/// A discrepancy, with what the statement has beside what the books have.
#[derive(Serialize)]
struct View {
    id: Option<i64>,
    finding: &'static str,
    differs: Vec<String>,
    by_a_person: bool,
    provider: String,
    reference: String,
    transaction: String,
    line: Option<i64>,
    theirs: Option<Theirs>,
    ours: Option<Ours>,
    unmatched_vend: Option<i64>,
    first_found_in: Option<i64>,
    decided_at: Option<String>,
    decided_by: Option<String>,
    decided_because: Option<String>,
}

#[derive(Serialize)]
struct Theirs {
    at: String,
    product: &'static str,
    meter: Option<String>,
    amount: String,
}

#[derive(Serialize)]
struct Ours {
    purchase: i64,
    state: &'static str,
    at: String,
    transaction: Option<String>,
    product: &'static str,
    meter: Option<String>,
    amount: String,
}

/// Something, and discrepancies beside it.
#[derive(Serialize)]
struct Beside<'a, T> {
    #[serde(flatten)]
    what: &'a T,
    discrepancies: Vec<View>,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List { provider, all, limit, after } => {
            let scope = DiscrepancyScope {
                provider_code: provider.clone(),
                with_decided: *all,
                after: *after,
                limit: *limit,
                ..DiscrepancyScope::default()
            };
            Ok(Report::list(&listed(session, scope).await?))
        }
        Verb::Close { discrepancies, care, why } => {
            let close = |is_rehearsal| {
                let (ids, act) = (discrepancies.clone(), session.act(why));
                reconciliation::close_discrepancies(session.database(), ids, is_rehearsal, act)
            };
            close(true).await?;
            if care.dry_run {
                let ids = Some(discrepancies.clone());
                let scope = DiscrepancyScope { ids, limit: 1_000, ..DiscrepancyScope::default() };
                return Ok(Report::list(&listed(session, scope).await?).noting(REHEARSED));
            }
            care.ask(&format!("{} discrepancies are closed. This cannot be undone.", discrepancies.len()))?;
            close(false).await?;
            let open = listed(session, DiscrepancyScope { limit: 1_000, ..DiscrepancyScope::default() });
            let note = format!("{} closed. Above are those that are not.", discrepancies.len());
            Ok(Report::list(&open.await?).noting(&note))
        }
    }
}

async fn listed(session: &Session, scope: DiscrepancyScope) -> Result<Vec<View>, VendctlError> {
    let found = reconciliation::list_discrepancies(session.database(), scope).await?;
    Ok(found.iter().map(View::from).collect())
}

/// A report about something: a table of discrepancies, then `parts` about it.
pub(crate) fn beside<T: Serialize>(what: &T, parts: &[Part], found: &[DiscrepancyRecord]) -> Report {
    let views: Vec<View> = found.iter().map(View::from).collect();
    let parts = [Report::list(&views).parts(), parts].concat();
    Report::of(&Beside { what, discrepancies: views }, parts).with_moments(&MOMENTS)
}

/// Of discrepancies, and of the reconciliation that found them.
const MOMENTS: [&str; 5] = ["their time", "our time", "from", "until", "finished"];

impl From<&DiscrepancyRecord> for View {
    fn from(record: &DiscrepancyRecord) -> Self {
        let finding = match record.kind {
            DiscrepancyKind::OnlyTheirs => "only theirs",
            DiscrepancyKind::OnlyOurs => "only ours",
            DiscrepancyKind::Different => "different",
        };
        let theirs = record.theirs.as_ref().map(|theirs| Theirs {
            at: instant(theirs.vended_at),
            product: theirs.product.as_str(),
            meter: theirs.meter.clone(),
            amount: theirs.net.to_string(),
        });
        let ours = record.ours.as_ref().map(|ours| Ours {
            purchase: ours.purchase.0,
            state: ours.state.as_str(),
            at: instant(ours.created_at),
            transaction: ours.provider_transaction.clone(),
            product: ours.product.as_str(),
            meter: ours.meter.clone(),
            amount: ours.net.to_string(),
        });
        let decided = record.decided.as_ref();
        Self {
            id: record.id,
            finding,
            differs: record.differs.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect(),
            by_a_person: record.is_by_person,
            provider: record.provider_code.clone(),
            reference: record.provider_reference.clone(),
            transaction: record.provider_transaction.clone(),
            line: record.line,
            theirs,
            ours,
            unmatched_vend: record.unmatched_vend,
            first_found_in: record.first_found_in,
            decided_at: decided.map(|(at, _by, _because)| instant(*at)),
            decided_by: decided.map(|(_at, by, _because)| by.clone()),
            decided_because: decided.map(|(_at, _by, because)| because.clone()),
        }
    }
}

impl View {
    fn what(&self) -> String {
        match (self.differs.is_empty(), self.by_a_person) {
            (false, _) => format!("{}: {}", self.finding, self.differs.join(", ")),
            (true, true) => format!("{}, entered by a person", self.finding),
            (true, false) => self.finding.to_owned(),
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "finding",
        "reference",
        "line",
        "their transaction",
        "their time",
        "their amount",
        "their meter",
        "purchase",
        "state",
        "our transaction",
        "our time",
        "our amount",
        "our meter",
        "unmatched vend",
        "closed by",
        "reason",
    ];
    const MOMENTS: &'static [&'static str] = &["their time", "our time"];

    fn cells(&self) -> Vec<String> {
        let number = |number: Option<i64>| or_dash(number.map(|number| number.to_string()).as_deref());
        let (theirs, ours) = (self.theirs.as_ref(), self.ours.as_ref());
        let transaction = theirs.map(|_theirs| self.transaction.as_str());
        vec![
            number(self.id),
            self.what(),
            self.reference.clone(),
            number(self.line),
            or_dash(transaction),
            or_dash(theirs.map(|theirs| theirs.at.as_str())),
            or_dash(theirs.map(|theirs| theirs.amount.as_str())),
            or_dash(theirs.and_then(|theirs| theirs.meter.as_deref())),
            number(ours.map(|ours| ours.purchase)),
            or_dash(ours.map(|ours| ours.state)),
            or_dash(ours.and_then(|ours| ours.transaction.as_deref())),
            or_dash(ours.map(|ours| ours.at.as_str())),
            or_dash(ours.map(|ours| ours.amount.as_str())),
            or_dash(ours.and_then(|ours| ours.meter.as_deref())),
            number(self.unmatched_vend),
            or_dash(self.decided_by.as_deref()),
            or_dash(self.decided_because.as_deref()),
        ]
    }
}
