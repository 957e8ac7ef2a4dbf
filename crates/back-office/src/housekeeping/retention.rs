//! Retention: personal data and sealed values end so many months after their purchase.
//!
//! The database decides what may be erased (`erase_from_purchases` in migrations/2026-11-24-000030_retention/up.sql):
//! never an amount, a reference, an entry or a state, and nothing of a purchase that ended within a week.

use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Integer, Text},
};
use serde::Deserialize;

use super::takes_maintenance_lock;

/// Zero, and a line that is absent, keep it for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionSettings {
    /// How many months after the end of a purchase its personal data is erased: phone numbers, names of subscribers,
    /// comments, and the provider's words for a refusal. Zero keeps it for ever. Provider replies hold names too: set
    /// `sealed_values_months` to the same or less.
    pub personal_data_months: u16,
    /// How many months after the end of a purchase its sealed values are erased: tokens and provider replies. Zero keeps
    /// them for ever. Until then they prove what was vended. Keep them for as long as a provider or a customer may
    /// dispute a purchase.
    pub sealed_values_months: u16,
}

/// How many rows something was erased from: purchases, and vends that only a provider's statement had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Rows without personal data since now.
    pub personal_data: u64,
    /// Rows without sealed values since now.
    pub sealed_values: u64,
}

/// The maximum number of purchases that one transaction looks at. Each of airtime gets a new entry in every index.
const BATCH: i32 = 2_000;
/// The maximum number of batches of a kind. The rest is left for the next run.
const BATCHES_MAX: u32 = 50;

struct ApplyRetention;

impl Statement for ApplyRetention {
    const SQL: &str = "-- apply_retention
SELECT reached, erased FROM apply_retention($1, $2, $3)";
}

#[derive(Clone, Copy, Default, QueryableByName)]
struct Batch {
    #[diesel(sql_type = BigInt)]
    reached: i64,
    #[diesel(sql_type = BigInt)]
    erased: i64,
}

/// Erases what is older than these settings allow, in small transactions, each with its line in the audit log. Erases
/// nothing while another process cleans up.
///
/// # Errors
/// [`DatabaseError`] if it could not continue. What was erased until then stays erased. The first phone number of airtime
/// is not erased while a program is connected that does not know pseudonyms.
pub async fn apply_retention(
    database: &Database,
    settings: RetentionSettings,
) -> Result<Erased, DatabaseError> {
    Ok(Erased {
        personal_data: erase(database, "PERSONAL_DATA", settings.personal_data_months).await?,
        sealed_values: erase(database, "SEALED_VALUES", settings.sealed_values_months).await?,
    })
}

async fn erase(database: &Database, kind: &'static str, months: u16) -> Result<u64, DatabaseError> {
    let mut erased = 0_u64;
    if months == 0 {
        return Ok(erased);
    }
    for _ in 0..BATCHES_MAX {
        let batch = database.operate(move |transaction| Box::pin(erase_batch(transaction, kind, months)));
        let batch = batch.await?;
        erased = erased.saturating_add(u64::try_from(batch.erased).unwrap_or_default());
        if batch.reached == 0 {
            break;
        }
    }
    Ok(erased)
}

async fn erase_batch(
    transaction: &Transaction,
    kind: &'static str,
    months: u16,
) -> Result<Batch, DatabaseError> {
    if !takes_maintenance_lock(transaction).await? {
        return Ok(Batch::default());
    }
    let batch = prepared::<ApplyRetention>()
        .bind::<Text, _>(kind)
        .bind::<Integer, _>(i32::from(months))
        .bind::<Integer, _>(BATCH)
        .get_result(transaction);
    batch.await
}
