//! The journal entry that a function of the database has posted: each of them returns its number and its time.

use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Text, Timestamptz},
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
