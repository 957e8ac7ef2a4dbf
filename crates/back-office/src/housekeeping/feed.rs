//! The keeping of the feed: secrets that end soon and pauses that begin or end by themselves are reported, and old events are deleted.

use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Integer},
};
use serde::Deserialize;

use super::takes_maintenance_lock;

/// How long events are kept, and how early a secret is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeedSettings {
    /// For how many days events of the feed are kept, 7 at least. An integrator that reads none for longer misses some, and
    /// is told so.
    pub kept_days: u16,
    /// How many days before its end a client secret is reported.
    pub secret_warning_days: u16,
}

impl Default for FeedSettings {
    fn default() -> Self {
        Self { kept_days: 30, secret_warning_days: 14 }
    }
}

/// The settings of the feed cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("kept_days must be {DAYS_MIN} at least")]
pub struct FeedSettingsError;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedKept {
    /// Secrets that were reported.
    pub secrets_told: u64,
    /// Events that were deleted.
    pub events_deleted: u64,
}

/// The database refuses to delete younger events: a webhook is tried for days.
const DAYS_MIN: u16 = 7;
/// The maximum number of events that one transaction deletes. While it is open, it holds back the feed.
const BATCH: i32 = 2_000;
/// The maximum number of batches of one organisation. The rest is left for the next run.
const BATCHES_MAX: u32 = 200;

struct TellOfExpiringSecrets;

impl Statement for TellOfExpiringSecrets {
    const SQL: &str = "-- tell_of_expiring_secrets
SELECT tell_feed_of_expiring_secrets($1) AS number";
}

struct DeleteOldEvents;

impl Statement for DeleteOldEvents {
    const SQL: &str = "-- delete_old_events
SELECT delete_old_events($1, $2, $3) AS number";
}

struct TellOfPauses;

impl Statement for TellOfPauses {
    const SQL: &str = "-- tell_of_pauses
SELECT tell_feed_of_pauses() AS number";
}

struct ListOrganisations;

impl Statement for ListOrganisations {
    const SQL: &str = "-- organisation_numbers
SELECT id AS number FROM organisations ORDER BY id";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

impl FeedSettings {
    /// Checks that the settings can be used.
    ///
    /// # Errors
    /// If events would be deleted that the database keeps.
    pub fn checked(&self) -> Result<(), FeedSettingsError> {
        if self.kept_days < DAYS_MIN { Err(FeedSettingsError) } else { Ok(()) }
    }
}

/// Reports secrets that end soon, and deletes old events in small transactions. Does nothing while another process cleans
/// up.
///
/// # Errors
/// [`DatabaseError`] if it could not continue. What was done until then stays done.
pub async fn keep_feed(database: &Database, settings: FeedSettings) -> Result<FeedKept, DatabaseError> {
    let secrets_told = database
        .operate(move |transaction| Box::pin(tell_of_secrets(transaction, settings.secret_warning_days)));
    let mut kept = FeedKept { secrets_told: secrets_told.await?, events_deleted: 0 };
    let organisations: Vec<Row> = database
        .read(|connection| Box::pin(async { prepared::<ListOrganisations>().load(connection).await }))
        .await?;
    for Row { number: organisation } in organisations {
        for _ in 0..BATCHES_MAX {
            let batch = database.operate(move |transaction| {
                Box::pin(delete_batch(transaction, organisation, settings.kept_days))
            });
            let deleted = batch.await?;
            kept.events_deleted = kept.events_deleted.saturating_add(deleted);
            if deleted == 0 {
                break;
            }
        }
    }
    Ok(kept)
}

/// Reports the pauses of providers that have begun or ended by themselves. Each is reported once, however many processes look.
/// Returns how many began or ended.
///
/// # Errors
/// [`DatabaseError`] if nothing was reported, or if that is unknown.
pub async fn tell_of_pauses(database: &Database) -> Result<u64, DatabaseError> {
    let told = database.operate(|transaction| {
        Box::pin(async move { prepared::<TellOfPauses>().get_result::<Row>(transaction).await })
    });
    Ok(told.await?.count())
}

async fn tell_of_secrets(transaction: &Transaction, days: u16) -> Result<u64, DatabaseError> {
    if !takes_maintenance_lock(transaction).await? {
        return Ok(0);
    }
    let told = prepared::<TellOfExpiringSecrets>().bind::<Integer, _>(i32::from(days));
    let told: Row = told.get_result(transaction).await?;
    Ok(told.count())
}

async fn delete_batch(transaction: &Transaction, organisation: i64, days: u16) -> Result<u64, DatabaseError> {
    if !takes_maintenance_lock(transaction).await? {
        return Ok(0);
    }
    let deleted = prepared::<DeleteOldEvents>()
        .bind::<BigInt, _>(organisation)
        .bind::<Integer, _>(i32::from(days))
        .bind::<Integer, _>(BATCH);
    let deleted: Row = deleted.get_result(transaction).await?;
    Ok(deleted.count())
}

impl Row {
    fn count(&self) -> u64 {
        u64::try_from(self.number).unwrap_or_default()
    }
}
