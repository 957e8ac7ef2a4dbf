//! Housekeeping: what has done its duty and protects nobody any more is cleared away, a little at a time.
//!
//! Nothing about money is ever cleared away. What goes are sessions, a week after nothing of them can be presented any
//! more, closings, long after every confirm that they could stop, and refused confirms after 30 days.

use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;

use crate::statement::{Statement, prepared};
use crate::transaction::Transaction;
use crate::{Store, StoreError};

/// How much was cleared away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Access tokens that ended more than a day ago.
    pub access_tokens: u64,
    /// Refresh tokens of sessions that ended more than a week ago. While a session may still be refreshed all of its
    /// tokens stay: one that comes back after it was exchanged gives a thief away.
    pub refresh_tokens: u64,
    /// Sessions that ended more than a week ago, once their tokens are gone. That one was revoked, when and why, stays
    /// in the audit log.
    pub token_families: u64,
    /// Closed references older than a day. They stop confirms that began before them, which reach their reserve within
    /// a minute.
    pub closed_references: u64,
    /// Closed keys older than an hour, of clients that close no others.
    pub closed_keys: u64,
    /// Refused confirms older than 30 days.
    pub refused_confirms: u64,
}

/// Most that one transaction clears away.
const BATCH: i64 = 5_000;
/// Most batches of a kind: the rest is for the next time.
const BATCHES_MAX: u32 = 20;

/// One process at a time clears away, so that no two wait for each other.
struct TakeBroom;

impl Statement for TakeBroom {
    const SQL: &str = "-- take_broom
SELECT CASE WHEN pg_try_advisory_xact_lock(hashtextextended('vendgate.housekeeping', 0)) THEN 1 ELSE 0 END::bigint AS taken";
}

#[derive(diesel::QueryableByName)]
struct Broom {
    #[diesel(sql_type = BigInt)]
    taken: i64,
}

struct PurgeAccessTokens;

impl Statement for PurgeAccessTokens {
    const SQL: &str = "-- purge_access_tokens
-- A confirm that came in with one may look for it a little after its end.
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
-- One that is closed anew meanwhile is young again: that is asked again under its lock.
DELETE FROM closed_references
WHERE (organisation_id, subscriber_identifier, external_reference) IN (
    SELECT organisation_id, subscriber_identifier, external_reference FROM closed_references
    WHERE closed_at < now() - interval '1 day' ORDER BY closed_at LIMIT $1
) AND closed_at < now() - interval '1 day'";
}

struct PurgeClosedKeys;

impl Statement for PurgeClosedKeys {
    const SQL: &str = "-- purge_closed_keys
-- Client by client, along the index by which each clears away its own.
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

impl Store {
    /// Clears away what has done its duty, in small transactions. Where another process is at it, nothing.
    ///
    /// # Errors
    /// [`StoreError`], when it could not go on; what was cleared away until then is gone.
    pub async fn purge_expired(&self) -> Result<Purged, StoreError> {
        Ok(Purged {
            access_tokens: self.purge::<PurgeAccessTokens>().await?,
            refresh_tokens: self.purge::<PurgeRefreshTokens>().await?,
            token_families: self.purge::<PurgeTokenFamilies>().await?,
            closed_references: self.purge::<PurgeClosedReferences>().await?,
            closed_keys: self.purge::<PurgeClosedKeys>().await?,
            refused_confirms: self.purge::<PurgeRefusedConfirms>().await?,
        })
    }

    async fn purge<S: Statement>(&self) -> Result<u64, StoreError> {
        let mut purged = 0_u64;
        for _ in 0..BATCHES_MAX {
            let batch = self.operate(|transaction| Box::pin(purge_batch::<S>(transaction))).await?;
            purged = purged.saturating_add(batch);
            if batch < BATCH.unsigned_abs() {
                break;
            }
        }
        Ok(purged)
    }
}

async fn purge_batch<S: Statement>(transaction: &mut Transaction) -> Result<u64, StoreError> {
    let broom: Broom = prepared::<TakeBroom>().get_result(&mut **transaction).await?;
    if broom.taken == 0 {
        return Ok(0);
    }
    let gone = prepared::<S>().bind::<BigInt, _>(BATCH).execute(&mut **transaction).await?;
    Ok(u64::try_from(gone).unwrap_or(u64::MAX))
}
