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
    /// The maximum number of entries, each with all its postings.
    pub limit: u32,
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
    /// The other side: the role of a system account, or the number of another account.
    pub counterpart: String,
    /// The purchase that was settled.
    pub purchase: Option<i64>,
    /// The operator's own reference for a payment.
    pub reference: Option<String>,
    /// The operator's reason.
    pub reason: Option<String>,
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

/// A page of a wallet's postings, the newest first.
pub async fn account_statement(
    database: &Database,
    query: StatementQuery,
) -> Result<Vec<StatementLine>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let rows = prepared::<ListPostings>()
                .bind::<BigInt, _>(query.account.0)
                .bind::<BigInt, _>(query.before.unwrap_or(i64::MAX))
                .bind::<BigInt, _>(i64::from(query.limit));
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
