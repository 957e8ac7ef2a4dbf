//! Reads purchases, and closes references for retries.

use std::time::Duration;

use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{BigInt, Nullable, Text};
use purchase::{OrganisationId, PurchaseId, Record};
use vend::{Capabilities, Product, SubscriberIdentifier};

use crate::{
    Store,
    closings::{Closed, Closing},
};

#[cfg(test)]
mod plans;
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

/// Uses `purchases_by_subscriber`.
struct FindNewest;

impl Statement for FindNewest {
    const SQL: &str = select_record!(
        "find_newest",
        "WHERE p.organisation_id = $1 AND p.subscriber_identifier = $2
    AND hashtext(p.external_reference) = hashtext($3) AND p.external_reference = $3 AND ($4 IS NULL OR p.product = $4)
ORDER BY p.reserved_no DESC LIMIT 1"
    );
}

impl Store {
    /// Finds the newest purchase of a key. If there is none, closes the key, so that "not found" stays true while it rests.
    pub async fn find_for_retry(&self, key: RetryKey) -> Result<Option<ForRetry>, DatabaseError> {
        let store = self.clone();
        self.database
            .on_engine(async move {
                match store.find_newest(&key).await? {
                    Some(found) => Ok(Some(found)),
                    None => store.close_after(key, None, ClosingOutcome::NotBought).await,
                }
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
        self.database.on_engine(async move { store.close_after(key, Some(known), outcome).await }).await
    }

    async fn close_after(
        &self,
        key: RetryKey,
        known: Option<PurchaseId>,
        outcome: ClosingOutcome,
    ) -> Result<Option<ForRetry>, DatabaseError> {
        let rest = match outcome {
            ClosingOutcome::Bought => Duration::ZERO,
            ClosingOutcome::NotBought => self.timing.reference_rest,
        };
        let closing = Closing { key, known, rest };
        match self.closings.close(&self.database, closing).await? {
            Closed::Yes => Ok(None),
            Closed::OvertakenBy(newest) => self.get_for_retry(newest).await.map(Some),
        }
    }

    /// The purchase with this number. By its number it is also found if its subscriber has been erased since.
    async fn get_for_retry(&self, id: PurchaseId) -> Result<ForRetry, DatabaseError> {
        let row: Option<Row> =
            prepared::<GetRecord>().bind::<BigInt, _>(id.0).optional(&*self.database.get().await?).await?;
        let row = row.ok_or_else(|| DatabaseError::corrupt("purchases", "id", id.0))?;
        row.read(&self.sealing, &self.timing)
    }

    async fn find_newest(&self, key: &RetryKey) -> Result<Option<ForRetry>, DatabaseError> {
        let found: Option<Row> = prepared::<FindNewest>()
            .bind::<BigInt, _>(key.organisation.0)
            .bind::<Text, _>(key.subscriber.as_str())
            .bind::<Text, _>(key.external_reference.as_str())
            .bind::<Nullable<Text>, _>(key.product.map(Product::as_str))
            .optional(&*self.database.get().await?)
            .await?;
        found.map(|row| row.read(&self.sealing, &self.timing)).transpose()
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
