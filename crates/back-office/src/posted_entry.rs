//! The journal entry that a function of the database has posted: each of them returns its number and its time.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text, Timestamptz},
};
use directory::AuditContext;

/// The number of a journal entry, and when it was posted.
pub type Posted = (i64, DateTime<Utc>);

#[derive(QueryableByName)]
pub(crate) struct PostedEntry {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Timestamptz)]
    posted_at: DateTime<Utc>,
}

impl From<PostedEntry> for Posted {
    fn from(entry: PostedEntry) -> Self {
        (entry.id, entry.posted_at)
    }
}

/// Undoes an entry by the function that `S` calls.
pub(crate) async fn undo<S: Statement>(
    transaction: &Transaction,
    entry: i64,
    act: &AuditContext,
) -> Result<Posted, DatabaseError> {
    let posted = prepared::<S>()
        .bind::<BigInt, _>(entry)
        .bind::<Text, _>(act.actor.as_str())
        .bind::<Text, _>(act.reason.as_str())
        .get_result::<PostedEntry>(transaction);
    Ok(posted.await?.into())
}

/// A payment or a payout under a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, QueryableByName)]
pub struct ReferredEntry {
    #[diesel(sql_type = BigInt)]
    pub entry: i64,
    /// The entry that undid it.
    #[diesel(sql_type = Nullable<BigInt>)]
    pub reversed_by: Option<i64>,
}

struct FindReferred;

impl Statement for FindReferred {
    const SQL: &str = "-- find_referred
SELECT e.id AS entry, v.reversed_by FROM journal_entries e LEFT JOIN reversals v ON v.entry_id = e.id WHERE e.reference = $1";
}

/// What was posted under this reference.
pub async fn find_referred(
    database: &Database,
    reference: String,
) -> Result<Option<ReferredEntry>, DatabaseError> {
    let found = database.read(move |connection| {
        Box::pin(async move {
            let found = prepared::<FindReferred>().bind::<Text, _>(reference);
            found.optional::<ReferredEntry>(connection).await
        })
    });
    found.await
}
