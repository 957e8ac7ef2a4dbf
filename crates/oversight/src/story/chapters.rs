//! The rows beside a purchase's own row: attempts, history, replies, journal entries, and operator actions.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Integer, Nullable, SmallInt, Text, Timestamptz},
};
use directory::AuditLine;
use money::Money;
use purchase::{PurchaseId, StateName};

use super::{StoryAttempt, StoryEntry, StoryEvent, StoryMove, StoryReply};

struct ListAttempts;

impl Statement for ListAttempts {
    const SQL: &str = "-- list_attempts
SELECT number, provider_reference, started_at FROM attempts WHERE purchase_id = $1 ORDER BY number";
}

#[derive(QueryableByName)]
struct AttemptRow {
    #[diesel(sql_type = SmallInt)]
    number: i16,
    #[diesel(sql_type = Text)]
    provider_reference: String,
    #[diesel(sql_type = Timestamptz)]
    started_at: DateTime<Utc>,
}

struct ListEvents;

impl Statement for ListEvents {
    const SQL: &str = "-- list_events
SELECT at, fact, detail, state, fence, attempt FROM purchase_history WHERE purchase_id = $1 ORDER BY id";
}

#[derive(QueryableByName)]
struct EventRow {
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    fact: String,
    #[diesel(sql_type = Nullable<Text>)]
    detail: Option<String>,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = BigInt)]
    fence: i64,
    #[diesel(sql_type = SmallInt)]
    attempt: i16,
}

struct ListReplies;

impl Statement for ListReplies {
    const SQL: &str = "-- list_replies
SELECT at, attempt, sealed_bytes, key_id FROM reply_sizes($1) ORDER BY at";
}

#[derive(QueryableByName)]
struct ReplyRow {
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
    #[diesel(sql_type = SmallInt)]
    attempt: i16,
    #[diesel(sql_type = Integer)]
    sealed_bytes: i32,
    #[diesel(sql_type = Integer)]
    key_id: i32,
}

struct ListMoves;

impl Statement for ListMoves {
    const SQL: &str = "-- list_moves
SELECT e.id, e.kind, e.posted_at, coalesce(d.house, 'account ' || d.id) AS debit, coalesce(c.house, 'account ' || c.id) AS credit,
    m.currency, m.amount
FROM journal_entries e
JOIN postings m ON m.entry_id = e.id
JOIN accounts d ON d.id = m.debit_account_id
JOIN accounts c ON c.id = m.credit_account_id
WHERE e.id IN (
    SELECT id FROM journal_entries WHERE purchase_id = $1 AND kind = 'SETTLE'
    UNION ALL
    SELECT id FROM journal_entries WHERE purchase_id = $1 AND kind <> 'SETTLE'
)
ORDER BY e.id, m.amount DESC";
}

#[derive(QueryableByName)]
struct MoveRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Timestamptz)]
    posted_at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    debit: String,
    #[diesel(sql_type = Text)]
    credit: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    amount: i64,
}

struct ListSubjects;

impl Statement for ListSubjects {
    const SQL: &str = "-- list_subjects_of_purchase
SELECT 'purchase:' || $1 AS subject
UNION ALL
SELECT 'incident:' || i.id FROM incidents i WHERE i.purchase_id = $1
UNION ALL
SELECT 'discrepancy:' || d.id FROM discrepancies d WHERE d.purchase_id = $1
UNION ALL
SELECT 'approval:' || r.id FROM approval_requests r WHERE r.act IN ('RESOLVE', 'RELEASE') AND (r.arguments ->> 'purchase')::bigint = $1";
}

#[derive(QueryableByName)]
struct SubjectRow {
    #[diesel(sql_type = Text)]
    subject: String,
}

struct ListOperatorActions;

impl Statement for ListOperatorActions {
    const SQL: &str = "-- list_operator_actions
SELECT l.id, l.at, l.login, l.actor, l.action, o.code AS organisation, l.subject, l.reason, l.details
FROM audit_log l LEFT JOIN organisations o ON o.id = l.organisation_id
WHERE l.subject = ANY ($1)
ORDER BY l.id";
}

pub(super) async fn attempts(
    transaction: &Transaction,
    of: PurchaseId,
) -> Result<Vec<StoryAttempt>, DatabaseError> {
    let rows: Vec<AttemptRow> = prepared::<ListAttempts>().bind::<BigInt, _>(of.0).load(transaction).await?;
    let read = rows.into_iter().map(|row| {
        Ok(StoryAttempt {
            number: count("attempts", of, row.number)?,
            provider_reference: row.provider_reference,
            started_at: row.started_at,
        })
    });
    read.collect()
}

pub(super) async fn events(
    transaction: &Transaction,
    of: PurchaseId,
) -> Result<Vec<StoryEvent>, DatabaseError> {
    let rows: Vec<EventRow> = prepared::<ListEvents>().bind::<BigInt, _>(of.0).load(transaction).await?;
    let read = rows.into_iter().map(|row| {
        let state = StateName::parse(&row.state);
        Ok(StoryEvent {
            at: row.at,
            fact: row.fact,
            detail: row.detail,
            state: state.ok_or_else(|| DatabaseError::corrupt("purchase_events", "state", of.0))?,
            fence: row.fence,
            attempt: count("purchase_events", of, row.attempt)?,
        })
    });
    read.collect()
}

pub(super) async fn replies(
    transaction: &Transaction,
    of: PurchaseId,
) -> Result<Vec<StoryReply>, DatabaseError> {
    let rows: Vec<ReplyRow> = prepared::<ListReplies>().bind::<BigInt, _>(of.0).load(transaction).await?;
    let read = rows.into_iter().map(|row| {
        Ok(StoryReply {
            at: row.at,
            attempt: count("provider_replies", of, row.attempt)?,
            sealed_bytes: row.sealed_bytes.unsigned_abs(),
            key_id: row.key_id,
        })
    });
    read.collect()
}

pub(super) async fn entries(
    transaction: &Transaction,
    of: PurchaseId,
) -> Result<Vec<StoryEntry>, DatabaseError> {
    let rows: Vec<MoveRow> = prepared::<ListMoves>().bind::<BigInt, _>(of.0).load(transaction).await?;
    let mut entries: Vec<StoryEntry> = Vec::new();
    for row in rows {
        let currency = read_currency("postings", row.id, &row.currency)?;
        let amount = Money::from_minor(row.amount, currency);
        let step = StoryMove { debit: row.debit, credit: row.credit, amount };
        match entries.last_mut().filter(|entry| entry.id == row.id) {
            Some(entry) => entry.moves.push(step),
            None => entries.push(StoryEntry {
                id: row.id,
                kind: row.kind,
                posted_at: row.posted_at,
                moves: vec![step],
            }),
        }
    }
    Ok(entries)
}

pub(super) async fn operator_actions(
    transaction: &Transaction,
    of: PurchaseId,
) -> Result<Vec<AuditLine>, DatabaseError> {
    let subjects = subjects(transaction, of).await?;
    prepared::<ListOperatorActions>().bind::<Array<Text>, _>(subjects).load(transaction).await
}

/// What the audit log says about a purchase has these subjects: itself, its incidents, its discrepancies, and the requests to decide it.
pub(super) async fn subjects(
    transaction: &Transaction,
    of: PurchaseId,
) -> Result<Vec<String>, DatabaseError> {
    let rows: Vec<SubjectRow> = prepared::<ListSubjects>().bind::<BigInt, _>(of.0).load(transaction).await?;
    Ok(rows.into_iter().map(|row| row.subject).collect())
}

fn count(table: &'static str, of: PurchaseId, number: i16) -> Result<u16, DatabaseError> {
    u16::try_from(number).map_err(|_negative| DatabaseError::corrupt(table, "attempt", of.0))
}
