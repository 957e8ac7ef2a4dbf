//! Reads purchases, and closes references for retries.

use std::time::Duration;

use chrono::{DateTime, Utc};
use database::{Connection, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::sql_types::{BigInt, Nullable, Text};
use purchase::{OrganisationId, PurchaseId, Record};
use vend::{Capabilities, Product, SubscriberIdentifier};

use crate::Store;

mod row;

pub(crate) use row::Row;

/// The key that identifies a purchase to be retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryKey {
    /// The organisation that owns the purchase.
    pub organisation: OrganisationId,
    /// The subscriber that it was for.
    pub subscriber: SubscriberIdentifier,
    /// The integrator's own reference for the purchase.
    pub external_reference: String,
    /// The product. `None` means any product.
    pub product: Option<Product>,
}

/// The final answer that a retry is about to give. It decides how the reference is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosingOutcome {
    /// The purchase was bought. Confirms that arrived before the answer can no longer buy under the reference.
    Bought,
    /// Nothing was bought, so the integrator may buy again. A confirm that is still on its way must not do so under
    /// this reference: the reference rests for [`purchase::Timing::reference_rest`].
    NotBought,
}

/// A purchase, and the database's time when it was read.
#[derive(Clone, Debug)]
pub struct ForRetry {
    /// The newest purchase of the key.
    pub record: Record,
    /// What the provider's connection is declared to do in doubt.
    pub declared: Capabilities,
    /// Whether the account and the provider allow retries.
    pub retries_enabled: bool,
    /// When this was read.
    pub at: DateTime<Utc>,
}

macro_rules! select_record {
    ($name:literal, $rest:literal) => {
        concat!("-- ", $name, "\n", include_str!("sql/select_record.sql"), $rest)
    };
}

struct GetRecord;

impl Statement for GetRecord {
    const SQL: &str = select_record!("get_record", "WHERE p.id = $1");
}

struct FindNewest;

impl Statement for FindNewest {
    const SQL: &str = select_record!(
        "find_newest",
        "WHERE p.organisation_id = $1 AND p.subscriber_identifier = $2 AND p.external_reference = $3
    AND ($4 IS NULL OR p.product = $4)
ORDER BY p.reserved_no DESC LIMIT 1"
    );
}

/// The subscriber of airtime is a phone number, and retention replaces it by a pseudonym.
struct FindErased;

impl Statement for FindErased {
    const SQL: &str = select_record!(
        "find_erased",
        "WHERE p.organisation_id = $1 AND p.subscriber_identifier = pseudonym($2) AND p.external_reference = $3
    AND ($4 IS NULL OR p.product = $4)
ORDER BY p.reserved_no DESC LIMIT 1"
    );
}

struct LockOwnWallets;

impl Statement for LockOwnWallets {
    const SQL: &str = "-- lock_own_wallets
SELECT id FROM accounts WHERE organisation_id = $1 ORDER BY id FOR NO KEY UPDATE";
}

struct CloseReference;

impl Statement for CloseReference {
    const SQL: &str = "-- close_reference
-- An existing rest is never shortened.
INSERT INTO closed_references AS c (organisation_id, subscriber_identifier, external_reference, closed_at, rests_until)
SELECT $1, $2, $3, at, at + $4 * interval '1 microsecond' FROM clock_timestamp() AS at
ON CONFLICT (organisation_id, subscriber_identifier, external_reference)
    DO UPDATE SET closed_at = excluded.closed_at, rests_until = greatest(c.rests_until, excluded.rests_until)";
}

impl Store {
    /// Finds the newest purchase of a key. If there is none, closes the key in the same transaction, so that "not
    /// found" stays true while it rests.
    pub async fn find_for_retry(&self, key: RetryKey) -> Result<Option<ForRetry>, DatabaseError> {
        let store = self.clone();
        self.database
            .on_engine(async move {
                let found = find::<FindNewest>(&*store.database.get().await?, &key).await?;
                if let Some(row) = found {
                    return row.read(&store.sealing, &store.timing).map(Some);
                }
                store.close_after(&key, None, ClosingOutcome::NotBought).await
            })
            .await
    }

    /// Closes a key, so that a final answer about its newest purchase stays true. If `known` is no longer the newest,
    /// closes nothing and returns the newest purchase instead.
    pub async fn close_reference(
        &self,
        key: RetryKey,
        known: PurchaseId,
        outcome: ClosingOutcome,
    ) -> Result<Option<ForRetry>, DatabaseError> {
        let store = self.clone();
        self.database.on_engine(async move { store.close_after(&key, Some(known), outcome).await }).await
    }

    async fn close_after(
        &self,
        key: &RetryKey,
        known: Option<PurchaseId>,
        outcome: ClosingOutcome,
    ) -> Result<Option<ForRetry>, DatabaseError> {
        let _turn = self.closing_references.take().await?;
        let rest = match outcome {
            ClosingOutcome::Bought => Duration::ZERO,
            ClosingOutcome::NotBought => self.timing.reference_rest,
        };
        let transaction = self.database.transaction().await?;
        let outcome = find_newer_or_close(&transaction, key, known, rest).await;
        let newer = transaction.end(outcome).await?;
        newer.map(|row| row.read(&self.sealing, &self.timing)).transpose()
    }

    /// The purchase with this number, in its current state.
    pub async fn get_record(&self, id: PurchaseId) -> Result<Record, DatabaseError> {
        let (sealing, timing) = (self.sealing.clone(), self.timing);
        self.database
            .read(move |connection| {
                Box::pin(async move {
                    let rows: Vec<Row> =
                        prepared::<GetRecord>().bind::<BigInt, _>(id.0).load(connection).await?;
                    let row = rows.into_iter().next();
                    let row = row.ok_or_else(|| DatabaseError::corrupt("purchases", "id", id.0))?;
                    row.read(&sealing, &timing).map(|read| read.record)
                })
            })
            .await
    }
}

/// Every reserve of the organisation locks a wallet before it looks for closed references. This function locks all
/// wallets, and then looks. So a reserve either is committed already and is found here, or it will see the closing.
async fn find_newer_or_close(
    transaction: &Transaction,
    key: &RetryKey,
    known: Option<PurchaseId>,
    rest: Duration,
) -> Result<Option<Row>, DatabaseError> {
    let ((), (), newest, erased) = tokio::try_join!(
        biased;
        transaction.begin(),
        lock_own_wallets(transaction, key.organisation),
        find::<FindNewest>(transaction, key),
        find_erased_if_unknown(transaction, key, known),
    )?;
    if let Some(row) = newest.or(erased).filter(|row| Some(PurchaseId(row.id)) != known) {
        return Ok(Some(row));
    }
    prepared::<CloseReference>()
        .bind::<BigInt, _>(key.organisation.0)
        .bind::<Text, _>(key.subscriber.as_str())
        .bind::<Text, _>(key.external_reference.as_str())
        .bind::<BigInt, _>(i64::try_from(rest.as_micros()).unwrap_or(i64::MAX))
        .execute(transaction)
        .await?;
    Ok(None)
}

/// Locks all wallets of an organisation, in the order of their numbers.
pub(crate) async fn lock_own_wallets(
    transaction: &Transaction,
    of: OrganisationId,
) -> Result<(), DatabaseError> {
    prepared::<LockOwnWallets>().bind::<BigInt, _>(of.0).execute(transaction).await?;
    Ok(())
}

/// "Not found" allows the integrator to buy again, so it must not be said about a purchase whose subscriber was erased.
/// Such a purchase is older than any with the subscriber itself. If a purchase is known, this was answered before.
async fn find_erased_if_unknown(
    transaction: &Transaction,
    key: &RetryKey,
    known: Option<PurchaseId>,
) -> Result<Option<Row>, DatabaseError> {
    if known.is_some() { Ok(None) } else { find::<FindErased>(transaction, key).await }
}

async fn find<S: Statement>(connection: &Connection, key: &RetryKey) -> Result<Option<Row>, DatabaseError> {
    let rows: Vec<Row> = prepared::<S>()
        .bind::<BigInt, _>(key.organisation.0)
        .bind::<Text, _>(key.subscriber.as_str())
        .bind::<Text, _>(key.external_reference.as_str())
        .bind::<Nullable<Text>, _>(key.product.map(Product::as_str))
        .load(connection)
        .await?;
    Ok(rows.into_iter().next())
}
