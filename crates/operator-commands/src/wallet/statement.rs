//! `vendctl wallet statement`: the postings of a wallet, the newest first.

use back_office::{StatementLine, StatementQuery};
use clap::Args;
use serde::Serialize;

use crate::{
    error::VendctlError,
    moment::{Day, Moment},
    report::{Report, Row, instant, or_dash},
    session::Session,
};

/// Which postings are shown.
#[derive(Debug, Args)]
pub(crate) struct StatementOf {
    /// The account's number
    account: i64,
    /// Only of this day: 2026-11-20, today or yesterday
    #[arg(long, value_name = "DAY", value_parser = Day::parse, conflicts_with_all = ["since", "until"])]
    date: Option<Day>,
    /// Only since this moment or day
    #[arg(long, value_name = "MOMENT", value_parser = Moment::parse)]
    since: Option<Moment>,
    /// Only before this moment or day
    #[arg(long, value_name = "MOMENT", value_parser = Moment::parse)]
    until: Option<Moment>,
    /// The greatest number of journal entries to show
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Show all of them
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Only entries before this one, for the next page
    #[arg(long, value_name = "ENTRY")]
    before: Option<i64>,
    /// Print CSV
    #[arg(long)]
    csv: bool,
}

#[derive(Serialize)]
struct LineView {
    entry: i64,
    posted_at: String,
    kind: String,
    amount: String,
    counterpart: String,
    purchase: Option<i64>,
    reference: Option<String>,
    reason: Option<String>,
}

impl StatementOf {
    pub(super) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let account = session.account(self.account).await?.id;
        let moment = |at: Option<Moment>| at.map(|at| session.moment(at)).transpose();
        let (since, until) = match self.date {
            Some(day) => session.bounds(day).map(|(from, to)| (Some(from), Some(to)))?,
            None => (moment(self.since)?, moment(self.until)?),
        };
        let limit = if self.all { usize::MAX } else { usize::from(self.limit) };
        let query = StatementQuery { account, before: self.before, since, until, limit };
        let lines = back_office::account_statement(session.database(), query).await?;
        let lines: Vec<LineView> = lines.into_iter().map(LineView::from).collect();
        if self.csv { Report::csv(&lines) } else { Ok(Report::list(&lines)) }
    }
}

impl From<StatementLine> for LineView {
    fn from(line: StatementLine) -> Self {
        Self {
            entry: line.entry,
            posted_at: instant(line.posted_at),
            kind: line.kind,
            amount: line.amount.to_string(),
            counterpart: line.counterpart,
            purchase: line.purchase,
            reference: line.reference,
            reason: line.reason,
        }
    }
}

impl Row for LineView {
    const COLUMNS: &'static [&'static str] =
        &["entry", "posted at", "kind", "amount", "counterpart", "purchase", "reference", "reason"];
    const MOMENTS: &'static [&'static str] = &["posted at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.entry.to_string(),
            self.posted_at.clone(),
            self.kind.clone(),
            self.amount.clone(),
            self.counterpart.clone(),
            or_dash(self.purchase.map(|purchase| purchase.to_string()).as_deref()),
            or_dash(self.reference.as_deref()),
            or_dash(self.reason.as_deref()),
        ]
    }
}
