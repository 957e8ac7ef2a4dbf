//! What a worker takes, sends and records. One worker at a time has an endpoint, for as long as its lease.

use std::{collections::HashMap, time::Duration};

use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, Transaction, column, prepared};
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, SmallInt, Text, Timestamptz};
use feed::Position;
use purchase::{OrganisationId, PurchaseId};
use secrecy::SecretString;
use webhook::{EndpointId, SigningKeys, SwitchedOff};

mod row;

use crate::WebhookStore;
use row::{KeysRow, RetryRow, TakenRow, TokenRow};

/// Which endpoints a worker takes. They have places of their own, so that a slow endpoint takes none from a quick one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Endpoints that answered well in their last round.
    Quick,
    /// Endpoints that failed or were slow in it, and new ones.
    Slow,
}

/// An endpoint that belongs to the caller until its lease ends.
#[derive(Debug)]
pub struct Taken {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Whose events it gets.
    pub organisation: OrganisationId,
    /// The number of this claim.
    pub fence: i64,
    /// Where it was taken.
    pub lane: Lane,
    /// The events up to here were delivered or are to be tried again.
    pub position: Position,
    /// The first failure since the last success.
    pub failing_since: Option<DateTime<Utc>>,
    /// How many rounds in a row had no success.
    pub failed_rounds: u32,
    /// Where events are sent.
    pub url: String,
    /// The names of the types of events that are sent. All if it is empty.
    pub event_types: Vec<String>,
    /// Whether a successful purchase is sent with its token.
    pub include_tokens: bool,
    /// The keys that sign, the newest first. Empty if none can be opened here, which is logged.
    pub keys: Vec<SigningKeys>,
}

/// An event that is due again. It may be a [test](Position::is_test).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The event.
    pub event: Position,
    /// How often it was tried.
    pub attempts: u16,
}

/// What came of one attempt.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The event.
    pub event: Position,
    /// Its type.
    pub kind: String,
    /// The number of the attempt, from 1.
    pub attempt: u16,
    /// When it began.
    pub at: DateTime<Utc>,
    /// How long it took.
    pub took: Duration,
    /// The HTTP status, or why there was none.
    pub answer: Result<u16, &'static str>,
    /// How long until the event is tried again. `None` if it was accepted or given up.
    pub next: Option<Duration>,
}

/// What a worker has done with an endpoint that it had taken.
#[derive(Clone, Debug)]
pub struct Round {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The number of the claim.
    pub fence: i64,
    /// The events up to here were delivered or are among the attempts.
    pub position: Position,
    /// What came of each attempt.
    pub attempts: Vec<Attempt>,
    /// The first failure since the last success.
    pub failing_since: Option<DateTime<Utc>>,
    /// How many rounds in a row had no success.
    pub failed_rounds: u32,
    /// Where the endpoint is taken next.
    pub lane: Lane,
    /// How long until it may be taken again.
    pub rest: Duration,
    /// Why nothing more is sent to it, if so.
    pub switched_off: Option<SwitchedOff>,
}

struct TakeEndpoints;

impl Statement for TakeEndpoints {
    const SQL: &str = include_str!("sql/take_endpoints.sql");
}

struct ListKeys;

impl Statement for ListKeys {
    const SQL: &str = "-- list_webhook_keys
SELECT id, endpoint_id, key_id, sealed FROM webhook_keys
WHERE endpoint_id = ANY ($1) AND (valid_until IS NULL OR valid_until > now()) ORDER BY id DESC";
}

struct ListRetries;

impl Statement for ListRetries {
    const SQL: &str = "-- list_webhook_retries
SELECT transaction_no, event_id, attempts FROM webhook_retries
WHERE endpoint_id = $1 AND due_at <= now() ORDER BY due_at LIMIT $2";
}

struct EndRound;

impl Statement for EndRound {
    const SQL: &str = "-- end_webhook_round
UPDATE webhook_progress
SET transaction_no = $3, event_id = $4, failing_since = $5, failed_rounds = $6, is_slow = $7,
    due_at = clock_timestamp() + $8 * interval '1 millisecond'
WHERE endpoint_id = $1 AND fence = $2";
}

struct InsertAttempts;

impl Statement for InsertAttempts {
    const SQL: &str = "-- insert_webhook_attempts
INSERT INTO webhook_attempts (endpoint_id, transaction_no, event_id, kind, attempt, at, took_ms, http_status, no_answer, next_at)
SELECT $1, a.transaction_no, a.event_id, a.kind, a.attempt, a.at, a.took_ms, a.http_status, a.no_answer,
    clock_timestamp() + a.next_ms * interval '1 millisecond'
FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10)
    AS a (transaction_no, event_id, kind, attempt, at, took_ms, http_status, no_answer, next_ms)";
}

/// An event that was accepted or given up is not tried again, unless its receiver asked for it meanwhile.
struct EndRetries;

impl Statement for EndRetries {
    const SQL: &str = "-- end_webhook_retries
DELETE FROM webhook_retries r
USING unnest($2, $3, $4, $5) AS a (transaction_no, event_id, attempt, at)
WHERE r.endpoint_id = $1 AND r.transaction_no = a.transaction_no AND r.event_id = a.event_id AND r.attempts < a.attempt
    AND r.due_at <= a.at";
}

struct SetRetries;

impl Statement for SetRetries {
    const SQL: &str = "-- set_webhook_retries
INSERT INTO webhook_retries (endpoint_id, transaction_no, event_id, attempts, due_at)
SELECT $1, a.transaction_no, a.event_id, a.attempt, clock_timestamp() + a.next_ms * interval '1 millisecond'
FROM unnest($2, $3, $4, $5) AS a (transaction_no, event_id, attempt, next_ms)
ON CONFLICT (endpoint_id, transaction_no, event_id) DO UPDATE SET attempts = excluded.attempts, due_at = excluded.due_at";
}

struct ListTokens;

impl Statement for ListTokens {
    const SQL: &str = "-- list_tokens_for_webhooks
SELECT id, token_key_id AS key_id, sealed_token AS sealed FROM purchases WHERE id = ANY ($1) AND sealed_token IS NOT NULL";
}

struct SwitchOff;

impl Statement for SwitchOff {
    const SQL: &str = "-- switch_off_webhook_endpoint
UPDATE webhook_endpoints SET status = 'SWITCHED_OFF', status_since = now(), switched_off_because = $2
WHERE id = $1 AND status = 'ACTIVE'";
}

impl WebhookStore {
    /// Takes up to `limit` endpoints that have something due. Until `lease` ends, no other worker takes them.
    pub async fn take(&self, lane: Lane, limit: u16, lease: Duration) -> Result<Vec<Taken>, DatabaseError> {
        let sealing = self.sealing.clone();
        let (taken, keys) = self
            .database
            .operate(move |transaction| {
                Box::pin(async move {
                    let taken: Vec<TakenRow> = prepared::<TakeEndpoints>()
                        .bind::<Bool, _>(lane == Lane::Slow)
                        .bind::<BigInt, _>(i64::from(limit))
                        .bind::<BigInt, _>(milliseconds(lease))
                        .load(transaction)
                        .await?;
                    let keys = prepared::<ListKeys>()
                        .bind::<Array<BigInt>, _>(column(&taken, |row| row.endpoint_id));
                    let keys: Vec<KeysRow> =
                        if taken.is_empty() { Vec::new() } else { keys.load(transaction).await? };
                    Ok((taken, keys))
                })
            })
            .await?;
        Ok(taken.into_iter().map(|row| row.taken(lane, &keys, &sealing)).collect())
    }

    /// Up to `limit` events of an endpoint that are due again, the longest due first.
    pub async fn retries(&self, endpoint: EndpointId, limit: u16) -> Result<Vec<Retry>, DatabaseError> {
        let listed = self.database.read(move |connection| {
            let retries =
                prepared::<ListRetries>().bind::<BigInt, _>(endpoint.0).bind::<BigInt, _>(i64::from(limit));
            Box::pin(async move { retries.load::<RetryRow>(connection).await })
        });
        Ok(listed.await?.into_iter().map(Retry::from).collect())
    }

    /// The tokens of these purchases, of those that have one that can be opened here.
    pub async fn tokens(
        &self,
        purchases: Vec<PurchaseId>,
    ) -> Result<HashMap<PurchaseId, SecretString>, DatabaseError> {
        if purchases.is_empty() {
            return Ok(HashMap::new());
        }
        let ids: Vec<i64> = purchases.iter().map(|purchase| purchase.0).collect();
        let listed = self.database.read(move |connection| {
            let tokens = prepared::<ListTokens>().bind::<Array<BigInt>, _>(ids);
            Box::pin(async move { tokens.load::<TokenRow>(connection).await })
        });
        Ok(listed.await?.into_iter().filter_map(|row| row.open(&self.sealing)).collect())
    }

    /// Records what was done with a taken endpoint, and gives it back. Whether it still belonged to the caller: if not, nothing
    /// is recorded, and its events are sent again.
    pub async fn record(&self, round: Round) -> Result<bool, DatabaseError> {
        let recorded = self.database.operate(move |transaction| {
            Box::pin(async move {
                if !end(transaction, &round).await? {
                    return Ok(false);
                }
                insert_attempts(transaction, &round).await?;
                set_retries(transaction, &round).await?;
                if let Some(because) = round.switched_off {
                    prepared::<SwitchOff>()
                        .bind::<BigInt, _>(round.endpoint.0)
                        .bind::<Text, _>(because.as_str())
                        .execute(transaction)
                        .await?;
                }
                Ok(true)
            })
        });
        recorded.await
    }
}

async fn end(transaction: &Transaction, round: &Round) -> Result<bool, DatabaseError> {
    let ended = prepared::<EndRound>()
        .bind::<BigInt, _>(round.endpoint.0)
        .bind::<BigInt, _>(round.fence)
        .bind::<BigInt, _>(round.position.transaction)
        .bind::<BigInt, _>(round.position.number)
        .bind::<Nullable<Timestamptz>, _>(round.failing_since)
        .bind::<Integer, _>(i32::try_from(round.failed_rounds).unwrap_or(i32::MAX))
        .bind::<Bool, _>(round.lane == Lane::Slow)
        .bind::<BigInt, _>(milliseconds(round.rest))
        .execute(transaction)
        .await?;
    Ok(ended == 1)
}

async fn insert_attempts(transaction: &Transaction, round: &Round) -> Result<(), DatabaseError> {
    let all = round.attempts.as_slice();
    if all.is_empty() {
        return Ok(());
    }
    prepared::<InsertAttempts>()
        .bind::<BigInt, _>(round.endpoint.0)
        .bind::<Array<BigInt>, _>(column(all, |it| it.event.transaction))
        .bind::<Array<BigInt>, _>(column(all, |it| it.event.number))
        .bind::<Array<Text>, _>(column(all, |it| it.kind.as_str()))
        .bind::<Array<SmallInt>, _>(column(all, |it| small(it.attempt)))
        .bind::<Array<Timestamptz>, _>(column(all, |it| it.at))
        .bind::<Array<Integer>, _>(column(all, |it| i32::try_from(it.took.as_millis()).unwrap_or(i32::MAX)))
        .bind::<Array<Nullable<SmallInt>>, _>(column(all, |it| it.answer.ok().map(small)))
        .bind::<Array<Nullable<Text>>, _>(column(all, |it| it.answer.err()))
        .bind::<Array<Nullable<BigInt>>, _>(column(all, |it| it.next.map(milliseconds)))
        .execute(transaction)
        .await?;
    Ok(())
}

async fn set_retries(transaction: &Transaction, round: &Round) -> Result<(), DatabaseError> {
    let (again, ended): (Vec<&Attempt>, Vec<&Attempt>) =
        round.attempts.iter().partition(|it| it.next.is_some());
    if !ended.is_empty() {
        prepared::<EndRetries>()
            .bind::<BigInt, _>(round.endpoint.0)
            .bind::<Array<BigInt>, _>(column(&ended, |it| it.event.transaction))
            .bind::<Array<BigInt>, _>(column(&ended, |it| it.event.number))
            .bind::<Array<SmallInt>, _>(column(&ended, |it| small(it.attempt)))
            .bind::<Array<Timestamptz>, _>(column(&ended, |it| it.at))
            .execute(transaction)
            .await?;
    }
    if !again.is_empty() {
        prepared::<SetRetries>()
            .bind::<BigInt, _>(round.endpoint.0)
            .bind::<Array<BigInt>, _>(column(&again, |it| it.event.transaction))
            .bind::<Array<BigInt>, _>(column(&again, |it| it.event.number))
            .bind::<Array<SmallInt>, _>(column(&again, |it| small(it.attempt)))
            .bind::<Array<BigInt>, _>(column(&again, |it| it.next.map_or(0, milliseconds)))
            .execute(transaction)
            .await?;
    }
    Ok(())
}

fn small(number: u16) -> i16 {
    i16::try_from(number).unwrap_or(i16::MAX)
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
