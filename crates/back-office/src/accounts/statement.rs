//! A wallet's postings, page by page, the newest first, with the balance after each.

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

/// Postings that follow each other, and what the wallet had before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletStatement {
    /// The balance before the oldest of them.
    pub opening: Money,
    /// The newest first.
    pub lines: Vec<StatementLine>,
}

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
    /// What the wallet had after it.
    pub balance: Money,
    /// The other side: the role of a system account, or the number of another account.
    pub counterpart: String,
    /// The purchase that was settled.
    pub purchase: Option<i64>,
    /// The operator's own reference for a payment.
    pub reference: Option<String>,
    /// The operator's reason.
    pub reason: Option<String>,
    /// The entry that it undoes.
    pub reverses: Option<i64>,
    /// The entry that undid it.
    pub reversed_by: Option<i64>,
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
    #[diesel(sql_type = Nullable<BigInt>)]
    reverses: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    reversed_by: Option<i64>,
}

struct BalanceBefore;

impl Statement for BalanceBefore {
    const SQL: &str = include_str!("balance_before.sql");
}

#[derive(diesel::QueryableByName)]
struct BalanceRow {
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    balance: i64,
}

/// A wallet's postings, the newest first.
///
/// The entries of a wallet have the order of their times, and a cut-off at a moment has its last entry before it. So a period that has
/// ended long ago is found without reading what came later.
pub async fn account_statement(
    database: &Database,
    query: StatementQuery,
) -> Result<WalletStatement, DatabaseError> {
    let (mut rows, next) = rows(database, &query).await?;
    // What is older than the oldest of them is the opening balance.
    let opening =
        balance_before(database, query.account, rows.last().map_or(next, |row| row.entry_id)).await?;
    let mut balance = opening;
    rows.reverse();
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let overflow = |_| DatabaseError::corrupt("postings", "amount", row.entry_id);
        let amount = Money::from_minor(row.amount, opening.currency());
        balance = balance.plus(amount).map_err(overflow)?;
        lines.push(row.line(amount, balance));
    }
    lines.reverse();
    Ok(WalletStatement { opening, lines })
}

/// The postings, and the number below which all entries are older than the period.
async fn rows(database: &Database, query: &StatementQuery) -> Result<(Vec<Row>, i64), DatabaseError> {
    let mut before = query.before.unwrap_or(i64::MAX);
    if let Some(until) = query.until {
        before = before.min(end(database, query.account, until).await?);
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut entries = 0_usize;
    while entries < query.limit {
        let wanted = if query.until.is_some() { PAGE } else { (query.limit - entries).min(PAGE) };
        let page = page(database, query.account, before, wanted).await?;
        let Some(oldest) = page.last().map(|row| row.entry_id) else { break };
        for row in page {
            if query.since.is_some_and(|since| row.posted_at < since) {
                return Ok((rows, row.entry_id.saturating_add(1)));
            }
            if query.until.is_some_and(|until| row.posted_at >= until) {
                continue;
            }
            if rows.last().is_none_or(|last| last.entry_id != row.entry_id) {
                if entries == query.limit {
                    return Ok((rows, before));
                }
                entries += 1;
            }
            rows.push(row);
        }
        before = oldest;
    }
    Ok((rows, before))
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
) -> Result<Vec<Row>, DatabaseError> {
    database
        .read(move |connection| {
            Box::pin(async move {
                let rows = prepared::<ListPostings>()
                    .bind::<BigInt, _>(account.0)
                    .bind::<BigInt, _>(before)
                    .bind::<BigInt, _>(i64::try_from(entries).unwrap_or(i64::MAX));
                rows.load::<Row>(connection).await
            })
        })
        .await
}

/// What the wallet had before this entry.
async fn balance_before(database: &Database, account: AccountId, entry: i64) -> Result<Money, DatabaseError> {
    let read = database.read(move |connection| {
        Box::pin(async move {
            let balance = prepared::<BalanceBefore>().bind::<BigInt, _>(account.0).bind::<BigInt, _>(entry);
            balance.get_result::<BalanceRow>(connection).await
        })
    });
    let row = read.await?;
    Ok(Money::from_minor(row.balance, read_currency("accounts", account.0, &row.currency)?))
}

impl Row {
    fn line(self, amount: Money, balance: Money) -> StatementLine {
        StatementLine {
            entry: self.entry_id,
            posted_at: self.posted_at,
            kind: self.kind,
            amount,
            balance,
            counterpart: self.counterpart,
            purchase: self.purchase_id,
            reference: self.reference,
            reason: self.reason,
            reverses: self.reverses,
            reversed_by: self.reversed_by,
        }
    }
}
