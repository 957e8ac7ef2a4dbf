//! The audit log: who did what, to whom and why. Each line is written in the transaction of the action itself. The
//! database adds the time, the login, and the hashes that chain the lines.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    ExpressionMethods, QueryableByName,
    sql_types::{Array, BigInt, Jsonb, Nullable, Text, Timestamptz},
};
use serde_json::Value;

mod chain;
mod verify;

pub use chain::{AuditFault, AuditMark, AuditMarkError, Walk};
pub use verify::{AuditWhole, audit_head, head, links_after, verify_audit_log};

use super::schema::audit_log;

/// The actor and the reason of an action, in the actor's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditContext {
    /// The name of a person or a process.
    pub actor: String,
    pub reason: String,
}

/// One line of the log, as written.
#[derive(Debug, Clone, PartialEq, QueryableByName)]
pub struct AuditLine {
    #[diesel(sql_type = BigInt)]
    pub id: i64,
    #[diesel(sql_type = Timestamptz)]
    pub at: DateTime<Utc>,
    /// The database login that wrote it. `None` for lines that are older than this column.
    #[diesel(sql_type = Nullable<Text>)]
    pub login: Option<String>,
    /// The actor, in the writer's own words.
    #[diesel(sql_type = Text)]
    pub actor: String,
    /// What was done, as `noun.past_participle`.
    #[diesel(sql_type = Text)]
    pub action: String,
    /// The code of the organisation that it concerns, if it concerns one.
    #[diesel(sql_type = Nullable<Text>)]
    pub organisation: Option<String>,
    /// What it was done to, as `noun:key`.
    #[diesel(sql_type = Text)]
    pub subject: String,
    #[diesel(sql_type = Text)]
    pub reason: String,
    /// A JSON object.
    #[diesel(sql_type = Jsonb)]
    pub details: Value,
}

/// Which lines are requested. An absent field does not filter.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    pub organisation_id: Option<i64>,
    /// Lines about any of these, each as `noun:key`, exactly.
    pub subjects: Option<Vec<String>>,
    /// The database login, exactly.
    pub login: Option<String>,
    pub since: Option<DateTime<Utc>>,
    /// Only lines before this moment.
    pub until: Option<DateTime<Utc>>,
    /// Only lines with smaller numbers. The next page begins before the last line of this one.
    pub before: Option<i64>,
    /// The maximum number of lines.
    pub limit: u32,
}

/// One line to be written. It never contains a secret, a password or a token.
#[derive(Debug)]
pub struct AuditEntry<'a> {
    pub act: &'a AuditContext,
    /// What was done, as `noun.past_participle`.
    pub action: &'static str,
    pub organisation_id: Option<i64>,
    /// What it was done to, as `noun:key`.
    pub subject: String,
    /// A JSON object.
    pub details: Value,
}

struct ListAuditLog;

impl Statement for ListAuditLog {
    const SQL: &str = "-- list_audit_log
SELECT l.id, l.at, l.login, l.actor, l.action, o.code AS organisation, l.subject, l.reason, l.details
FROM audit_log l LEFT JOIN organisations o ON o.id = l.organisation_id
WHERE ($1::bigint IS NULL OR l.organisation_id = $1) AND ($2::text[] IS NULL OR l.subject = ANY ($2))
    AND ($3::timestamptz IS NULL OR l.at >= $3) AND ($4::bigint IS NULL OR l.id < $4)
    AND ($6::text IS NULL OR l.login = $6) AND ($7::timestamptz IS NULL OR l.at < $7)
ORDER BY l.id DESC LIMIT $5";
}

/// The requested lines, the newest first.
pub async fn list_audit_log(database: &Database, query: AuditQuery) -> Result<Vec<AuditLine>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let lines = prepared::<ListAuditLog>()
                .bind::<Nullable<BigInt>, _>(query.organisation_id)
                .bind::<Nullable<Array<Text>>, _>(query.subjects)
                .bind::<Nullable<Timestamptz>, _>(query.since)
                .bind::<Nullable<BigInt>, _>(query.before)
                .bind::<BigInt, _>(i64::from(query.limit))
                .bind::<Nullable<Text>, _>(query.login)
                .bind::<Nullable<Timestamptz>, _>(query.until)
                .load(connection);
            lines.await
        })
    });
    listed.await
}

/// Adds a line to the log.
pub async fn append(transaction: &Transaction, entry: AuditEntry<'_>) -> Result<(), DatabaseError> {
    let written = diesel::insert_into(audit_log::table)
        .values((
            audit_log::actor.eq(&entry.act.actor),
            audit_log::action.eq(entry.action),
            audit_log::organisation_id.eq(entry.organisation_id),
            audit_log::subject.eq(entry.subject),
            audit_log::reason.eq(&entry.act.reason),
            audit_log::details.eq(entry.details),
        ))
        .execute(transaction);
    written.await?;
    Ok(())
}
