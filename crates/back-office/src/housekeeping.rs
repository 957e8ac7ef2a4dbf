//! Housekeeping: deletes rows that no longer protect anything, a little at a time.
//!
//! Rows about money are never deleted. The deleted rows are sessions, a week after none of their tokens can be
//! presented any more; closings, long after every confirm that they could stop; and, after 30 days, refused confirms and
//! messages that were sent or given up; events of the feed after a setting; and, of webhooks, ended keys, attempts after 30 days and
//! deleted endpoints; and batches 90 days after their end. What the operator's retention settings name is erased from ended purchases.

use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::sql_types::BigInt;

mod feed;
mod retention;
mod webhooks;

pub use feed::{FeedKept, FeedSettings, FeedSettingsError, keep_feed, tell_of_pauses};
pub use retention::{Erased, RetentionSettings, apply_retention};

/// How many rows were deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Access tokens that ended more than a day ago.
    pub access_tokens: u64,
    /// Refresh tokens of sessions that ended more than a week ago. While a session may still be refreshed, all of its
    /// tokens stay: a token that is presented again after its exchange reveals a theft.
    pub refresh_tokens: u64,
    /// Sessions that ended more than a week ago, once their tokens are deleted. The audit log keeps whether a session
    /// was revoked, when and why.
    pub token_families: u64,
    /// Closed references older than a day. They stop confirms that began before them, and such confirms reach their
    /// reserve within a minute.
    pub closed_references: u64,
    /// Closed keys older than an hour, of clients that close no other keys.
    pub closed_keys: u64,
    /// Refused confirms older than 30 days.
    pub refused_confirms: u64,
    /// Messages that were sent or given up more than 30 days ago.
    pub messages: u64,
    /// Keys of webhook endpoints that ended more than a day ago.
    pub webhook_keys: u64,
    /// Attempts to deliver an event that are older than 30 days.
    pub webhook_attempts: u64,
    /// Webhook endpoints that were deleted more than 30 days ago.
    pub webhook_endpoints: u64,
    /// Batches that were finished more than 90 days ago, with their lines.
    pub batches: u64,
}

/// The maximum number of rows that one transaction deletes.
const BATCH: i64 = 5_000;
/// The maximum number of batches of a kind. The rest is left for the next run.
const BATCHES_MAX: u32 = 20;

/// One process at a time deletes, so that no two processes wait for each other.
struct TakeMaintenanceLock;

impl Statement for TakeMaintenanceLock {
    const SQL: &str = "-- take_maintenance_lock
SELECT CASE WHEN pg_try_advisory_xact_lock(hashtextextended('vendgate.housekeeping', 0)) THEN 1 ELSE 0 END::bigint AS taken";
}

#[derive(diesel::QueryableByName)]
struct MaintenanceLock {
    #[diesel(sql_type = BigInt)]
    taken: i64,
}

struct PurgeAccessTokens;

impl Statement for PurgeAccessTokens {
    const SQL: &str = "-- purge_access_tokens
-- A confirm that arrived with an access token may look it up shortly after it expires.
DELETE FROM access_tokens WHERE id IN (
    SELECT id FROM access_tokens WHERE expires_at < now() - interval '1 day' ORDER BY expires_at LIMIT $1
)";
}

struct PurgeRefreshTokens;

impl Statement for PurgeRefreshTokens {
    const SQL: &str = "-- purge_refresh_tokens
DELETE FROM refresh_tokens WHERE id IN (
    SELECT r.id FROM token_families f JOIN refresh_tokens r ON r.family_id = f.id
    WHERE f.expires_at < now() - interval '7 days' ORDER BY f.expires_at LIMIT $1
)";
}

struct PurgeTokenFamilies;

impl Statement for PurgeTokenFamilies {
    const SQL: &str = "-- purge_token_families
DELETE FROM token_families WHERE id IN (
    SELECT f.id FROM token_families f
    WHERE f.expires_at < now() - interval '7 days'
        AND NOT EXISTS (SELECT FROM refresh_tokens r WHERE r.family_id = f.id)
        AND NOT EXISTS (SELECT FROM access_tokens a WHERE a.family_id = f.id)
    ORDER BY f.expires_at LIMIT $1
)";
}

struct PurgeClosedReferences;

impl Statement for PurgeClosedReferences {
    const SQL: &str = "-- purge_closed_references
-- A reference may be closed again meanwhile. So its age is checked again under the row lock.
DELETE FROM closed_references
WHERE (organisation_id, subscriber_identifier, external_reference) IN (
    SELECT organisation_id, subscriber_identifier, external_reference FROM closed_references
    WHERE closed_at < now() - interval '1 day' ORDER BY closed_at LIMIT $1
) AND closed_at < now() - interval '1 day'";
}

struct PurgeClosedKeys;

impl Statement for PurgeClosedKeys {
    const SQL: &str = "-- purge_closed_keys
-- Client by client, along the index by which each client deletes its own keys.
DELETE FROM closed_keys
WHERE (client_id, idempotency_key) IN (
    SELECT k.client_id, k.idempotency_key FROM oauth_clients c
    CROSS JOIN LATERAL (
        SELECT client_id, idempotency_key FROM closed_keys
        WHERE client_id = c.id AND closed_at < now() - interval '1 hour' ORDER BY closed_at LIMIT $1
    ) k LIMIT $1
) AND closed_at < now() - interval '1 hour'";
}

struct PurgeRefusedConfirms;

impl Statement for PurgeRefusedConfirms {
    const SQL: &str = "-- purge_refused_confirms
DELETE FROM refused_confirms WHERE id IN (
    SELECT id FROM refused_confirms WHERE refused_at < now() - interval '30 days' ORDER BY refused_at LIMIT $1
)";
}

struct PurgeMessages;

impl Statement for PurgeMessages {
    const SQL: &str = "-- purge_messages
-- Along the primary key, which is about the order of time. A message of a purchase that ended late stays behind, so only some
-- of the oldest may be deleted.
DELETE FROM outbox m
USING (
    SELECT purchase_id, recipient, channel FROM outbox ORDER BY purchase_id, recipient, channel LIMIT $1
) AS oldest
WHERE (m.purchase_id, m.recipient, m.channel) = (oldest.purchase_id, oldest.recipient, oldest.channel)
    AND coalesce(m.sent_at, m.given_up_at) < now() - interval '30 days'";
}

struct PurgeRepeatedMessages;

impl Statement for PurgeRepeatedMessages {
    const SQL: &str = "-- purge_repeated_messages
DELETE FROM repeated_messages m
USING (SELECT purchase_id, number FROM repeated_messages ORDER BY purchase_id, number LIMIT $1) AS oldest
WHERE (m.purchase_id, m.number) = (oldest.purchase_id, oldest.number)
    AND coalesce(m.sent_at, m.given_up_at) < now() - interval '30 days'";
}

struct PurgeBatches;

impl Statement for PurgeBatches {
    const SQL: &str = "-- purge_batches
-- With their lines, of which each has up to 5,000: so only a few at a time.
DELETE FROM batches WHERE id IN (
    SELECT id FROM batches WHERE status = 'FINISHED' AND status_since < now() - interval '90 days'
    ORDER BY status_since LIMIT least($1, 4)
)";
}

/// Deletes what is no longer needed, in small transactions. Deletes nothing while another process does so.
///
/// # Errors
/// [`DatabaseError`] if it could not continue. What was deleted until then stays deleted.
pub async fn purge_expired(database: &Database) -> Result<Purged, DatabaseError> {
    Ok(Purged {
        access_tokens: purge::<PurgeAccessTokens>(database).await?,
        refresh_tokens: purge::<PurgeRefreshTokens>(database).await?,
        token_families: purge::<PurgeTokenFamilies>(database).await?,
        closed_references: purge::<PurgeClosedReferences>(database).await?,
        closed_keys: purge::<PurgeClosedKeys>(database).await?,
        refused_confirms: purge::<PurgeRefusedConfirms>(database).await?,
        messages: purge::<PurgeMessages>(database)
            .await?
            .saturating_add(purge::<PurgeRepeatedMessages>(database).await?),
        webhook_keys: purge::<webhooks::PurgeKeys>(database).await?,
        webhook_attempts: purge::<webhooks::PurgeAttempts>(database).await?,
        webhook_endpoints: purge::<webhooks::PurgeEndpoints>(database).await?,
        batches: purge::<PurgeBatches>(database).await?,
    })
}

async fn purge<S: Statement>(database: &Database) -> Result<u64, DatabaseError> {
    let mut purged = 0_u64;
    for _ in 0..BATCHES_MAX {
        let batch = database.operate(|transaction| Box::pin(purge_batch::<S>(transaction))).await?;
        purged = purged.saturating_add(batch);
        if batch == 0 {
            break;
        }
    }
    Ok(purged)
}

/// Whether this transaction may delete: no other one does at this moment.
async fn takes_maintenance_lock(transaction: &Transaction) -> Result<bool, DatabaseError> {
    let lock: MaintenanceLock = prepared::<TakeMaintenanceLock>().get_result(transaction).await?;
    Ok(lock.taken != 0)
}

async fn purge_batch<S: Statement>(transaction: &Transaction) -> Result<u64, DatabaseError> {
    if !takes_maintenance_lock(transaction).await? {
        return Ok(0);
    }
    let gone = prepared::<S>().bind::<BigInt, _>(BATCH).execute(transaction).await?;
    Ok(u64::try_from(gone).unwrap_or(u64::MAX))
}
