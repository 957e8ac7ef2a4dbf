//! `vendctl wallet statement`: the postings of a wallet, the newest first, with the balance after each.

use back_office::{StatementLine, StatementQuery, WalletStatement};
use clap::Args;
use money::Money;
use serde::Serialize;

use crate::{
    error::VendctlError,
    moment::{Day, Moment},
    report::{Report, Row, instant, or_dash, plain},
    session::Session,
};

/// Which postings are shown.
#[derive(Debug, Args)]
pub struct StatementOf {
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
    /// Print CSV: amounts as plain numbers, and the balance before the oldest entry and after each
    #[arg(long)]
    csv: bool,
}

#[derive(Serialize)]
struct LineView {
    entry: i64,
    posted_at: String,
    kind: String,
    amount: String,
    balance: String,
    counterpart: String,
    purchase: Option<i64>,
    reference: Option<String>,
    reason: Option<String>,
    reverses: Option<i64>,
    reversed_by: Option<i64>,
}

/// A line for a spreadsheet: the sum of its amounts leads from the opening balance, the last line, to the closing one, the first.
#[derive(Serialize)]
struct CsvLine(Vec<String>);

impl StatementOf {
    pub async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let account = session.account(self.account).await?.id;
        let (since, until) = match self.date {
            Some(day) => session.bounds(day).map(|(from, to)| (Some(from), Some(to)))?,
            None => (session.optional_moment(self.since)?, session.optional_moment(self.until)?),
        };
        let limit = if self.all { usize::MAX } else { usize::from(self.limit) };
        let query = StatementQuery { account, before: self.before, since, until, limit };
        let statement = back_office::account_statement(session.database(), query).await?;
        let views: Vec<LineView> = statement.lines.iter().map(LineView::from).collect();
        let (opening, closing) = (statement.opening, closing(&statement));
        if self.csv {
            return Ok(Report::text_and_data(&views, in_csv(&statement)?.text()));
        }
        let balances = format!("Before these entries the wallet had {opening}, and after them {closing}.");
        Ok(Report::list(&views).noting(&balances))
    }
}

/// The balance after the newest entry.
fn closing(statement: &WalletStatement) -> Money {
    statement.lines.first().map_or(statement.opening, |line| line.balance)
}

fn in_csv(statement: &WalletStatement) -> Result<Report, VendctlError> {
    let mut lines = vec![CsvLine::balance("CLOSING", closing(statement))];
    lines.extend(statement.lines.iter().map(CsvLine::from));
    lines.push(CsvLine::balance("OPENING", statement.opening));
    Report::csv(&lines)
}

impl CsvLine {
    /// A line that is no entry, with a balance.
    fn balance(kind: &str, balance: Money) -> Self {
        let none = || "-".to_owned();
        let (balance, currency) = (plain(balance.minor()), balance.currency().to_string());
        let cells = [none(), none(), kind.to_owned(), String::new(), balance, currency];
        Self(cells.into_iter().chain((0..6).map(|_| none())).collect())
    }
}

impl From<&StatementLine> for CsvLine {
    fn from(line: &StatementLine) -> Self {
        let [amount, balance] = [line.amount, line.balance].map(|amount| plain(amount.minor()));
        let amounts = [amount, balance, line.balance.currency().to_string()];
        Self(LineView::from(line).cells_around(&amounts))
    }
}

impl Row for CsvLine {
    const COLUMNS: &'static [&'static str] = &[
        "entry",
        "posted at",
        "kind",
        "amount",
        "balance",
        "currency",
        "counterpart",
        "purchase",
        "reference",
        "reverses entry",
        "reversed by entry",
        "reason",
    ];

    fn cells(&self) -> Vec<String> {
        self.0.clone()
    }
}

impl From<&StatementLine> for LineView {
    fn from(line: &StatementLine) -> Self {
        Self {
            entry: line.entry,
            posted_at: instant(line.posted_at),
            kind: line.kind.clone(),
            amount: line.amount.to_string(),
            balance: line.balance.to_string(),
            counterpart: line.counterpart.clone(),
            purchase: line.purchase,
            reference: line.reference.clone(),
            reason: line.reason.clone(),
            reverses: line.reverses,
            reversed_by: line.reversed_by,
        }
    }
}

impl LineView {
    /// Its cells, with these in the place of its amounts.
    fn cells_around(&self, amounts: &[String]) -> Vec<String> {
        let number = |number: Option<i64>| or_dash(number.map(|number| number.to_string()).as_deref());
        let before = [self.entry.to_string(), self.posted_at.clone(), self.kind.clone()];
        let after = [
            self.counterpart.clone(),
            number(self.purchase),
            or_dash(self.reference.as_deref()),
            number(self.reverses),
            number(self.reversed_by),
            or_dash(self.reason.as_deref()),
        ];
        [&before[..], amounts, &after].concat()
    }
}

impl Row for LineView {
    const COLUMNS: &'static [&'static str] = &[
        "entry",
        "posted at",
        "kind",
        "amount",
        "balance",
        "counterpart",
        "purchase",
        "reference",
        "reverses entry",
        "reversed by entry",
        "reason",
    ];
    const MOMENTS: &'static [&'static str] = &["posted at"];

    fn cells(&self) -> Vec<String> {
        self.cells_around(&[self.amount.clone(), self.balance.clone()])
    }
}
