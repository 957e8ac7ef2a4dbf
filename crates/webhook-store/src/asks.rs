//! What the owner of an endpoint asks for: a test, events once more, and the log of attempts.

use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Integer, Nullable, SmallInt, Text, Timestamptz},
};
use feed::Position;
use purchase::OrganisationId;
use webhook::EndpointId;

use crate::WebhookStore;

/// How many events one request sends again at most.
pub const AGAIN_MAX: u16 = 1_000;

/// The result of a request by the owner of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked<T> {
    /// A worker will do it.
    Granted(T),
    /// Nothing is sent to the endpoint now.
    NotActive,
    /// The organisation has no such endpoint.
    Absent,
}

/// The events that are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// How many.
    pub events: u16,
    /// The last of them, if there are more in the range: ask again from here.
    pub goes_on_after: Option<Position>,
}

/// An attempt as it is read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRecord {
    /// Its number. A later attempt has a greater one.
    pub id: i64,
    /// The event.
    pub event: Position,
    /// The event's type. Empty if the event was no longer kept.
    pub kind: String,
    /// How often the event had been tried, with this attempt.
    pub attempt: u16,
    /// When it began.
    pub at: DateTime<Utc>,
    /// How long it took, in milliseconds.
    pub took_ms: u32,
    /// The HTTP status, or why there was none.
    pub answer: Result<u16, String>,
    /// When the event is tried again. `None` if it was accepted or given up.
    pub next_at: Option<DateTime<Utc>>,
}

struct AskForTest;

impl Statement for AskForTest {
    const SQL: &str = "-- ask_for_webhook_test
WITH e AS (
    SELECT id, status FROM webhook_endpoints WHERE organisation_id = $1 AND id = $2 AND status <> 'DELETED'
), asked AS (
    INSERT INTO webhook_retries (endpoint_id, transaction_no, event_id, attempts, due_at)
    SELECT id, 0, nextval('webhook_test_ids'), 0, now() FROM e WHERE status = 'ACTIVE'
    RETURNING event_id
)
SELECT 1::bigint AS events, 0::bigint AS transaction_no, (SELECT event_id FROM asked) AS event_id FROM e";
}

struct AskAgain;

impl Statement for AskAgain {
    const SQL: &str = include_str!("sql/ask_again.sql");
}

struct ListAttempts;

impl Statement for ListAttempts {
    const SQL: &str = "-- list_webhook_attempts
SELECT a.id, a.transaction_no, a.event_id, a.kind, a.attempt, a.at, a.took_ms, a.http_status, a.no_answer, a.next_at
FROM webhook_attempts a
WHERE a.endpoint_id = $1 AND a.id < $2
ORDER BY a.id DESC LIMIT $3";
}

/// The answer to a wish. Without `event_id`, the endpoint is not active.
#[derive(QueryableByName)]
struct AskedRow {
    #[diesel(sql_type = BigInt)]
    events: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    transaction_no: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    event_id: Option<i64>,
}

#[derive(QueryableByName)]
struct AttemptRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    transaction_no: i64,
    #[diesel(sql_type = BigInt)]
    event_id: i64,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = SmallInt)]
    attempt: i16,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
    #[diesel(sql_type = Integer)]
    took_ms: i32,
    #[diesel(sql_type = Nullable<SmallInt>)]
    http_status: Option<i16>,
    #[diesel(sql_type = Nullable<Text>)]
    no_answer: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    next_at: Option<DateTime<Utc>>,
}

impl WebhookStore {
    /// Has a test sent. Returns its event.
    pub async fn ask_for_test(
        &self,
        organisation: OrganisationId,
        id: EndpointId,
    ) -> Result<Asked<Position>, DatabaseError> {
        let asked = self.database.operate(move |transaction| {
            let asked = prepared::<AskForTest>().bind::<BigInt, _>(organisation.0).bind::<BigInt, _>(id.0);
            Box::pin(async move { asked.load::<AskedRow>(transaction).await })
        });
        Ok(match asked.await?.into_iter().next() {
            None => Asked::Absent,
            Some(row) => row.position().map_or(Asked::NotActive, Asked::Granted),
        })
    }

    /// Has the events from `first` to `last` sent once more, of those that the endpoint wants and was sent already. At most
    /// [`AGAIN_MAX`], the oldest first.
    pub async fn ask_again(
        &self,
        organisation: OrganisationId,
        id: EndpointId,
        first: Position,
        last: Position,
    ) -> Result<Asked<Again>, DatabaseError> {
        let asked = self.database.operate(move |transaction| {
            let asked = prepared::<AskAgain>()
                .bind::<BigInt, _>(organisation.0)
                .bind::<BigInt, _>(id.0)
                .bind::<BigInt, _>(first.transaction)
                .bind::<BigInt, _>(first.number)
                .bind::<BigInt, _>(last.transaction)
                .bind::<BigInt, _>(last.number)
                .bind::<BigInt, _>(i64::from(AGAIN_MAX));
            Box::pin(async move { asked.load::<AskedRow>(transaction).await })
        });
        Ok(match asked.await?.into_iter().next() {
            None => Asked::Absent,
            Some(row) if row.events < 0 => Asked::NotActive,
            Some(row) => {
                let events = u16::try_from(row.events).unwrap_or(u16::MAX);
                let goes_on_after = row.position().filter(|_| events >= AGAIN_MAX);
                Asked::Granted(Again { events, goes_on_after })
            }
        })
    }

    /// At most `limit` attempts for an endpoint, the newest first, with smaller numbers than `before`. `None` if the organisation
    /// has no such endpoint.
    pub async fn attempts(
        &self,
        organisation: OrganisationId,
        id: EndpointId,
        before: Option<i64>,
        limit: u16,
    ) -> Result<Option<Vec<AttemptRecord>>, DatabaseError> {
        if self.find(organisation, id).await?.is_none() {
            return Ok(None);
        }
        let listed = self.database.read(move |connection| {
            let attempts = prepared::<ListAttempts>()
                .bind::<BigInt, _>(id.0)
                .bind::<BigInt, _>(before.unwrap_or(i64::MAX))
                .bind::<BigInt, _>(i64::from(limit));
            Box::pin(async move { attempts.load::<AttemptRow>(connection).await })
        });
        listed.await?.into_iter().map(AttemptRecord::try_from).collect::<Result<_, _>>().map(Some)
    }
}

impl AskedRow {
    fn position(&self) -> Option<Position> {
        let (transaction, number) = self.transaction_no.zip(self.event_id)?;
        Some(Position { transaction, number })
    }
}

impl TryFrom<AttemptRow> for AttemptRecord {
    type Error = DatabaseError;

    fn try_from(row: AttemptRow) -> Result<Self, DatabaseError> {
        let corrupt = || DatabaseError::corrupt("webhook_attempts", "http_status", row.id);
        let answer = match (row.http_status, row.no_answer) {
            (Some(status), None) => Ok(status.unsigned_abs()),
            (None, Some(why)) => Err(why),
            (Some(_), Some(_)) | (None, None) => return Err(corrupt()),
        };
        Ok(Self {
            id: row.id,
            event: Position { transaction: row.transaction_no, number: row.event_id },
            kind: row.kind,
            attempt: row.attempt.unsigned_abs(),
            at: row.at,
            took_ms: row.took_ms.unsigned_abs(),
            answer,
            next_at: row.next_at,
        })
    }
}
