//! A wallet's postings, page by page, the newest first.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz};
use ledger::AccountId;
use money::Money;

/// The page that is requested.
#[derive(Clone, Copy, Debug)]
pub struct StatementQuery {
    /// The wallet.
    pub account: AccountId,
    /// Only entries with smaller numbers. The next page begins before the last entry of this one.
    pub before: Option<i64>,
    /// Only entries since this moment.
    pub since: Option<DateTime<Utc>>,
    /// Only entries before this moment.
    pub until: Option<DateTime<Utc>>,
    /// The maximum number of entries, each with all its postings.
    pub limit: usize,
}

/// How many entries are read at a time.
const PAGE: usize = 1_000;

/// One posting, seen from the wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementLine {
    /// The journal entry's number.
    pub entry: i64,
    /// When it was posted.
    pub posted_at: DateTime<Utc>,
    /// `SETTLE`, `TOP_UP`, `ADJUST` or `INCIDENT`.
    pub kind: String,
    /// Positive if it was credited to the wallet, negative if it was debited.
    pub amount: Money,
    /// The other side: the role of a system account, or the number of another account.
    pub counterpart: String,
    /// The purchase that was settled.
    pub purchase: Option<i64>,
    /// The operator's own reference for a payment.
    pub reference: Option<String>,
    /// The operator's reason.
    pub reason: Option<String>,
}

struct FindEnd;

impl Statement for FindEnd {
    const SQL: &str = "-- end_of_statement
SELECT min(c.entry_id) AS entry_id FROM cutoffs c WHERE c.account_id = $1 AND c.at >= $2";
}

#[derive(diesel::QueryableByName)]
struct EndRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    entry_id: Option<i64>,
}

struct ListPostings;

impl Statement for ListPostings {
    const SQL: &str = include_str!("list_postings.sql");
}

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    entry_id: i64,
    #[diesel(sql_type = Timestamptz)]
    posted_at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = Text)]
    counterpart: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    purchase_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    reference: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    reason: Option<String>,
}

/// A wallet's postings, the newest first.
///
/// The entries of a wallet have the order of their times, and a cut-off at a moment has its last entry before it. So a period that has
/// ended long ago is found without reading what came later.
pub async fn account_statement(
    database: &Database,
    query: StatementQuery,
) -> Result<Vec<StatementLine>, DatabaseError> {
    let mut before = query.before.unwrap_or(i64::MAX);
    if let Some(until) = query.until {
        before = before.min(end(database, query.account, until).await?);
    }
    let mut lines: Vec<StatementLine> = Vec::new();
    let mut entries = 0_usize;
    while entries < query.limit {
        let wanted = if query.until.is_some() { PAGE } else { (query.limit - entries).min(PAGE) };
        let page = page(database, query.account, before, wanted).await?;
        let Some(oldest) = page.last().map(|line| line.entry) else { break };
        for line in page {
            if query.since.is_some_and(|since| line.posted_at < since) {
                return Ok(lines);
            }
            if query.until.is_some_and(|until| line.posted_at >= until) {
                continue;
            }
            if lines.last().is_none_or(|last| last.entry != line.entry) {
                if entries == query.limit {
                    return Ok(lines);
                }
                entries += 1;
            }
            lines.push(line);
        }
        before = oldest;
    }
    Ok(lines)
}

/// A number above every entry before this moment, if there is a cut-off that says so.
async fn end(database: &Database, account: AccountId, until: DateTime<Utc>) -> Result<i64, DatabaseError> {
    let found = database.read(move |connection| {
        Box::pin(async move {
            let end = prepared::<FindEnd>().bind::<BigInt, _>(account.0).bind::<Timestamptz, _>(until);
            end.get_result::<EndRow>(connection).await
        })
    });
    Ok(found.await?.entry_id.map_or(i64::MAX, |entry| entry.saturating_add(1)))
}

async fn page(
    database: &Database,
    account: AccountId,
    before: i64,
    entries: usize,
) -> Result<Vec<StatementLine>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let rows = prepared::<ListPostings>()
                .bind::<BigInt, _>(account.0)
                .bind::<BigInt, _>(before)
                .bind::<BigInt, _>(i64::try_from(entries).unwrap_or(i64::MAX));
            rows.load::<Row>(connection).await
        })
    });
    listed.await?.into_iter().map(StatementLine::try_from).collect()
}

impl TryFrom<Row> for StatementLine {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let currency = read_currency("postings", row.entry_id, &row.currency)?;
        Ok(Self {
            entry: row.entry_id,
            posted_at: row.posted_at,
            kind: row.kind,
            amount: Money::from_minor(row.amount, currency),
            counterpart: row.counterpart,
            purchase: row.purchase_id,
            reference: row.reference,
            reason: row.reason,
        })
    }
}
