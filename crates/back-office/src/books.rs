//! What was earned and owed in a period, from trial balances: to providers, as fees to the operator, as commission to organisations.
//!
//! Each day lies between two trial balances, so what is owed at its end is what was owed at its begin and what has moved since.

mod accounts;
mod intervals;
mod lines;
mod sales;

use catalogue::read_currency;
use chrono::{DateTime, NaiveDate, Utc};
use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text, Timestamptz},
};
use ledger::SystemAccount;
use money::Money;
use purchase::{OrganisationId, ReportedDay};
use store::Store;
use vend::Product;

pub use accounts::{AccountKey, AccountLine, AccountReport, AccountReportError, report_accounts};
pub use lines::{BookKey, BookLine, Division};
pub use sales::{OrganisationSales, report_sales};

use intervals::{Interval, intervals};

/// A part of the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookPart {
    /// What providers are owed.
    Payable,
    /// The fees that were earned and not taken out.
    Fees,
    /// What organisations are owed as commission: the balances of the wallets that collect it.
    Commission,
}

/// What moved a part of the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookCause {
    /// Purchases were settled.
    Sale,
    /// Vends were found after their purchase had ended.
    LateVend,
    /// Vends without a purchase were entered from a provider's statement.
    UnmatchedVend,
    /// It was paid out, or a payout was reversed.
    Payout,
    /// An operator corrected a wallet.
    Correction,
}

/// What moved on a day, by what it was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookMove {
    /// The day.
    pub date: NaiveDate,
    /// Why.
    pub cause: BookCause,
    /// Whose purchases, or whose wallet.
    pub organisation: Option<OrganisationId>,
    /// Which provider's.
    pub provider_code: Option<String>,
    /// Of what.
    pub product: Option<Product>,
    /// `STAGING` or `PRODUCTION`: that of the organisation. What is of no organisation is of production.
    pub environment: String,
    /// How many postings.
    pub count: i64,
    /// By how much what is owed grew. Negative for what was paid out.
    pub amount: Money,
}

/// What was owed at the begin of the first day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookOpening {
    /// To which organisation, of commission.
    pub organisation: Option<OrganisationId>,
    /// To which provider.
    pub provider_code: Option<String>,
    /// `STAGING` or `PRODUCTION`.
    pub environment: String,
    /// How much.
    pub balance: Money,
}

/// A part of the books in a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookReport {
    /// Which part.
    pub part: BookPart,
    /// The days that have begun.
    pub days: Vec<NaiveDate>,
    /// What was owed at its begin.
    pub openings: Vec<BookOpening>,
    /// What moved, day by day.
    pub moves: Vec<BookMove>,
    /// Whether all its days have ended, so that it never changes.
    pub is_complete: bool,
}

struct BookOpenings;

impl Statement for BookOpenings {
    const SQL: &str = "-- book_openings
SELECT NULL::bigint AS organisation_id, nullif(l.provider_code, '') AS provider_code, e.environment, a.currency, e.amount AS balance
FROM trial_balance_lines l
JOIN accounts a ON a.id = l.account_id
CROSS JOIN LATERAL (VALUES ('STAGING', l.staging), ('PRODUCTION', l.balance - l.staging)) AS e (environment, amount)
WHERE l.at = $1 AND a.house = $2
UNION ALL
SELECT a.organisation_id, NULL, o.environment, a.currency, sum(c.balance)::bigint
FROM accounts a JOIN organisations o ON o.id = a.organisation_id JOIN cutoffs c ON c.account_id = a.id AND c.at = $1
WHERE a.category = $2 AND a.created_at < $1
GROUP BY a.organisation_id, o.environment, a.currency";
}

#[derive(QueryableByName)]
struct OpeningRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    organisation_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    provider_code: Option<String>,
    #[diesel(sql_type = Text)]
    environment: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    balance: i64,
}

struct BookMoves;

impl Statement for BookMoves {
    const SQL: &str = include_str!("books/read_moves.sql");
}

#[derive(QueryableByName)]
struct MoveRow {
    #[diesel(sql_type = Text)]
    cause: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    organisation_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    provider_code: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    product: Option<String>,
    #[diesel(sql_type = Text)]
    environment: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    moves: i64,
    #[diesel(sql_type = BigInt)]
    amount: i64,
}

/// Reads a part of the books on these days, which follow each other. Makes the trial balances between them.
///
/// # Errors
/// [`DatabaseError::Busy`] if a long history is not added up yet and the caller should come back.
pub async fn report_books(
    store: &Store,
    part: BookPart,
    days: &[ReportedDay],
) -> Result<BookReport, DatabaseError> {
    let intervals = intervals(store, days).await?;
    let is_complete = intervals.last().is_some_and(|last| last.until.is_some());
    let mut report = BookReport { part, days: vec![], openings: vec![], moves: vec![], is_complete };
    let Some(first) = intervals.first() else { return Ok(report) };
    report.openings = openings(store, part, first.since).await?;
    for interval in &intervals {
        if report.days.last() != Some(&interval.date) {
            report.days.push(interval.date);
        }
        report.moves.extend(moves(store, part, *interval).await?);
    }
    Ok(report)
}

async fn openings(
    store: &Store,
    part: BookPart,
    at: DateTime<Utc>,
) -> Result<Vec<BookOpening>, DatabaseError> {
    let rows = store.database().read(move |connection| {
        let openings = prepared::<BookOpenings>().bind::<Timestamptz, _>(at).bind::<Text, _>(part.as_str());
        Box::pin(async move { openings.load::<OpeningRow>(connection).await })
    });
    let opening = |row: OpeningRow| {
        let currency = read_currency("accounts", 0, &row.currency)?;
        Ok(BookOpening {
            organisation: row.organisation_id.map(OrganisationId),
            provider_code: row.provider_code,
            environment: row.environment,
            balance: Money::from_minor(row.balance, currency),
        })
    };
    rows.await?.into_iter().map(opening).collect()
}

async fn moves(store: &Store, part: BookPart, interval: Interval) -> Result<Vec<BookMove>, DatabaseError> {
    let Interval { date, since, until } = interval;
    let rows = store.database().read(move |connection| {
        let moves = prepared::<BookMoves>()
            .bind::<Timestamptz, _>(since)
            .bind::<Nullable<Timestamptz>, _>(until)
            .bind::<Text, _>(part.as_str());
        Box::pin(async move { moves.load::<MoveRow>(connection).await })
    });
    rows.await?.into_iter().map(|row| row.on(date)).collect()
}

impl BookPart {
    /// The system account, or the category of wallets, that the part consists of.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Payable => SystemAccount::ProviderPayable.as_str(),
            Self::Fees => SystemAccount::FeeIncome.as_str(),
            Self::Commission => ledger::Category::Commission.as_str(),
        }
    }
}

impl MoveRow {
    fn on(self, date: NaiveDate) -> Result<BookMove, DatabaseError> {
        let currency = read_currency("accounts", 0, &self.currency)?;
        let product = |name: &String| {
            Product::parse(name).ok_or_else(|| DatabaseError::corrupt("purchases", "product", name))
        };
        Ok(BookMove {
            date,
            cause: match self.cause.as_str() {
                "SETTLE" => BookCause::Sale,
                "INCIDENT" => BookCause::LateVend,
                "UNMATCHED_VEND" => BookCause::UnmatchedVend,
                "PAYOUT" => BookCause::Payout,
                _top_up_or_adjust => BookCause::Correction,
            },
            organisation: self.organisation_id.map(OrganisationId),
            product: self.product.as_ref().map(product).transpose()?,
            provider_code: self.provider_code,
            environment: self.environment,
            count: self.moves,
            amount: Money::from_minor(self.amount, currency),
        })
    }
}
