//! Verifies the audit log: reads it page by page, and walks along it.

use database::{Connection, Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bytea, Nullable, Text},
};

use super::chain::{AuditFault, AuditMark, Link, Walk};

/// The number of lines that are read at a time.
const PAGE: i64 = 1_000;

/// A log without faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditWhole {
    /// How many lines it has.
    pub lines: u64,
    /// Its newest line. `None` if the log is empty.
    pub head: Option<AuditMark>,
}

struct ReadLinks;

impl Statement for ReadLinks {
    const SQL: &str = "-- read_links
SELECT id, (extract(epoch FROM at) * 1000000)::bigint::text AS at_us, login, actor, action,
    organisation_id::text AS organisation_id, subject, reason, details::text AS details, previous_hash, hash
FROM audit_log WHERE id > $1 ORDER BY id LIMIT $2";
}

struct ReadHead;

impl Statement for ReadHead {
    const SQL: &str = "-- read_audit_head\nSELECT id, hash FROM audit_head WHERE hash IS NOT NULL";
}

#[derive(QueryableByName)]
struct LinkRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    at_us: String,
    #[diesel(sql_type = Nullable<Text>)]
    login: Option<String>,
    #[diesel(sql_type = Text)]
    actor: String,
    #[diesel(sql_type = Text)]
    action: String,
    #[diesel(sql_type = Nullable<Text>)]
    organisation_id: Option<String>,
    #[diesel(sql_type = Text)]
    subject: String,
    #[diesel(sql_type = Text)]
    reason: String,
    #[diesel(sql_type = Text)]
    details: String,
    #[diesel(sql_type = Nullable<Bytea>)]
    previous_hash: Option<Vec<u8>>,
    #[diesel(sql_type = Bytea)]
    hash: Vec<u8>,
}

#[derive(QueryableByName)]
struct HeadRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Bytea)]
    hash: Vec<u8>,
}

/// Walks along the whole log. The log must contain `kept`, if that is given, and the newest line that the database
/// itself stores.
///
/// # Errors
/// [`DatabaseError`] if the log could not be read to its end.
pub async fn verify_audit_log(
    database: &Database,
    kept: Option<AuditMark>,
) -> Result<Result<AuditWhole, AuditFault>, DatabaseError> {
    // Read before the lines, so that lines which are added meanwhile come after it.
    let kept: Vec<AuditMark> = kept.into_iter().chain(audit_head(database).await?).collect();
    let mut walk = Walk::default();
    loop {
        let after = walk;
        let links = database
            .read(move |connection| Box::pin(async move { links_after(connection, &after, PAGE).await }));
        let links = links.await?;
        if let Err(fault) = links.iter().try_for_each(|link| walk.pass(link, &kept)) {
            return Ok(Err(fault));
        }
        if links.is_empty() {
            let whole = AuditWhole { lines: walk.lines(), head: walk.last() };
            return Ok(walk.end(&kept).map(|()| whole));
        }
    }
}

/// The newest line, as the database stores it beside the log. `None` if there is none.
///
/// # Errors
/// [`DatabaseError`] if it could not be read.
pub async fn audit_head(database: &Database) -> Result<Option<AuditMark>, DatabaseError> {
    database.read(|connection| Box::pin(async move { head(connection).await })).await
}

pub async fn head(connection: &Connection) -> Result<Option<AuditMark>, DatabaseError> {
    let row: Option<HeadRow> = prepared::<ReadHead>().optional(connection).await?;
    row.map(|row| {
        let hash =
            row.hash.try_into().map_err(|_short| DatabaseError::corrupt("audit_head", "hash", row.id))?;
        Ok(AuditMark { id: row.id, hash })
    })
    .transpose()
}

/// The next lines of a walk, in their order.
pub async fn links_after(
    connection: &Connection,
    walk: &Walk,
    limit: i64,
) -> Result<Vec<Link>, DatabaseError> {
    let rows: Vec<LinkRow> = prepared::<ReadLinks>()
        .bind::<BigInt, _>(walk.last().map_or(i64::MIN, |mark| mark.id))
        .bind::<BigInt, _>(limit)
        .load(connection)
        .await?;
    Ok(rows.into_iter().map(Link::from).collect())
}

impl From<LinkRow> for Link {
    fn from(row: LinkRow) -> Self {
        let LinkRow { id, previous_hash, hash, .. } = row;
        let fields = [
            Some(row.at_us),
            row.login,
            Some(row.actor),
            Some(row.action),
            row.organisation_id,
            Some(row.subject),
            Some(row.reason),
            Some(row.details),
        ];
        Self { id, fields, previous_hash, hash }
    }
}
