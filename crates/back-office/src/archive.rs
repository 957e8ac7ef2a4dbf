//! Archives: the history of purchases that ended long ago, read for a file, and removed once the file holds it.
//!
//! The file is the caller's. The database compares what it removes with the digests of the file's lines, so nothing is
//! removed that the file does not hold (`remove_archived` in migrations/2026-11-24-000032_archives/up.sql).

use chrono::{DateTime, Utc};
use database::{Connection, Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bytea, Nullable, Text, Timestamptz},
};
use directory::{AuditContext, AuditEntry, append};
use serde_json::Value;

/// An archive by its content, and the name of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveName {
    /// SHA-256 of the lines of the file.
    pub sha256: [u8; 32],
    /// The name of the file, without its directory.
    pub file_name: String,
}

/// The next purchases for an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivePage {
    /// The number of the last purchase that was looked at. `None` after the last one.
    pub until: Option<i64>,
    /// The line of each purchase, in the order of their numbers.
    pub lines: Vec<String>,
}

/// An archive from which history was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveRecord {
    /// Its number, as purchases name it.
    pub id: i64,
    /// The archive.
    pub name: ArchiveName,
    /// How many purchases have their history in it and no longer in the database.
    pub purchases: i64,
    /// When the removal began.
    pub removed_at: DateTime<Utc>,
}

/// Why history was not removed.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The rows of a purchase are not those of the file, or are still needed.
    #[error("the archive does not hold what is stored")]
    Differs(#[source] DatabaseError),
    /// The database failed.
    #[error("it could not be removed")]
    Database(#[source] DatabaseError),
}

/// How many purchases are looked at together.
const PAGE: i64 = 1_000;

struct FindForArchive;

impl Statement for FindForArchive {
    const SQL: &str = "-- find_for_archive
WITH page AS MATERIALIZED (
    SELECT id, ended_at, archive_id FROM purchases WHERE id > $1 ORDER BY id LIMIT $2
)
SELECT max(id) AS until, coalesce(array_agg(id ORDER BY id) FILTER (
        WHERE archive_id IS NULL AND ended_at < $3 AND NOT EXISTS (
            SELECT FROM incidents i LEFT JOIN incident_decisions d ON d.incident_id = i.id
            WHERE i.purchase_id = page.id AND d.incident_id IS NULL
        )
    ), '{}') AS found
FROM page";
}

#[derive(QueryableByName)]
struct PageRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    until: Option<i64>,
    #[diesel(sql_type = Array<BigInt>)]
    found: Vec<i64>,
}

struct ReadHistories;

impl Statement for ReadHistories {
    const SQL: &str = "-- read_histories
SELECT archived_history(i.id) AS line FROM unnest($1) AS i (id) ORDER BY i.id";
}

#[derive(QueryableByName)]
struct LineRow {
    #[diesel(sql_type = Text)]
    line: String,
}

struct RemoveArchived;

impl Statement for RemoveArchived {
    const SQL: &str = "-- remove_archived
SELECT removed FROM remove_archived($1, $2, $3, $4, $5, $6)";
}

#[derive(QueryableByName)]
struct RemovedRow {
    #[diesel(sql_type = BigInt)]
    removed: i64,
}

struct ListArchives;

impl Statement for ListArchives {
    const SQL: &str = "-- list_archives
SELECT id, sha256, file_name, purchases, removed_at FROM archives ORDER BY id";
}

#[derive(QueryableByName)]
struct ArchiveRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Bytea)]
    sha256: Vec<u8>,
    #[diesel(sql_type = Text)]
    file_name: String,
    #[diesel(sql_type = BigInt)]
    purchases: i64,
    #[diesel(sql_type = Timestamptz)]
    removed_at: DateTime<Utc>,
}

/// The next purchases after number `after` that ended before this time and have no open incident, and are in no archive.
///
/// # Errors
/// If the database does not answer.
pub async fn read_for_archive(
    database: &Database,
    after: i64,
    ended_before: DateTime<Utc>,
) -> Result<ArchivePage, DatabaseError> {
    database.read(move |connection| Box::pin(read_page(connection, after, ended_before))).await
}

async fn read_page(
    connection: &Connection,
    after: i64,
    ended_before: DateTime<Utc>,
) -> Result<ArchivePage, DatabaseError> {
    let page: PageRow = prepared::<FindForArchive>()
        .bind::<BigInt, _>(after)
        .bind::<BigInt, _>(PAGE)
        .bind::<Timestamptz, _>(ended_before)
        .get_result(connection)
        .await?;
    let lines: Vec<LineRow> =
        prepared::<ReadHistories>().bind::<Array<BigInt>, _>(page.found).load(connection).await?;
    Ok(ArchivePage { until: page.until, lines: lines.into_iter().map(|row| row.line).collect() })
}

/// Writes into the audit log that an archive was written.
///
/// # Errors
/// If the database does not answer.
pub async fn note_archive(
    database: &Database,
    subject: String,
    details: Value,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let noted = database.operate(move |transaction| {
        Box::pin(async move {
            let line =
                AuditEntry { act: &act, action: "archive.written", organisation_id: None, subject, details };
            append(transaction, line).await
        })
    });
    noted.await
}

/// Removes the history of these purchases: each with the SHA-256 of its line in the archive. Returns how many were
/// removed now. Those that this archive has already are not counted.
///
/// # Errors
/// [`ArchiveError`]. In that case nothing of this batch was removed.
pub async fn remove_archived(
    database: &Database,
    archive: ArchiveName,
    batch: Vec<(i64, [u8; 32])>,
    act: AuditContext,
) -> Result<u64, ArchiveError> {
    let removed = database.operate(move |transaction| {
        Box::pin(async move {
            let (ids, digests): (Vec<i64>, Vec<Vec<u8>>) =
                batch.into_iter().map(|(id, digest)| (id, digest.to_vec())).unzip();
            let row: RemovedRow = prepared::<RemoveArchived>()
                .bind::<Bytea, _>(archive.sha256.to_vec())
                .bind::<Text, _>(archive.file_name)
                .bind::<Array<BigInt>, _>(ids)
                .bind::<Array<Bytea>, _>(digests)
                .bind::<Text, _>(&act.actor)
                .bind::<Text, _>(&act.reason)
                .get_result(transaction)
                .await?;
            Ok(row.removed)
        })
    });
    match removed.await {
        Ok(removed) => Ok(u64::try_from(removed).unwrap_or_default()),
        Err(error) if is_difference(&error) => Err(ArchiveError::Differs(error)),
        Err(error) => Err(ArchiveError::Database(error)),
    }
}

fn is_difference(error: &DatabaseError) -> bool {
    matches!(error, DatabaseError::Rejected { constraint, .. } if constraint == "archives_hold_what_is_removed")
}

/// Every archive from which history was removed, the oldest first.
///
/// # Errors
/// If the database does not answer.
pub async fn list_archives(database: &Database) -> Result<Vec<ArchiveRecord>, DatabaseError> {
    let rows: Vec<ArchiveRow> = database
        .read(|connection| Box::pin(async { prepared::<ListArchives>().load(connection).await }))
        .await?;
    rows.into_iter().map(ArchiveRecord::try_from).collect()
}

impl TryFrom<ArchiveRow> for ArchiveRecord {
    type Error = DatabaseError;

    fn try_from(row: ArchiveRow) -> Result<Self, DatabaseError> {
        let sha256 = row.sha256.try_into();
        let sha256 = sha256.map_err(|_other_length| DatabaseError::corrupt("archives", "sha256", row.id))?;
        Ok(Self {
            id: row.id,
            name: ArchiveName { sha256, file_name: row.file_name },
            purchases: row.purchases,
            removed_at: row.removed_at,
        })
    }
}
