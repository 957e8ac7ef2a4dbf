//! Numbers that must never repeat: purchase numbers, and the names of calls to a provider.
//!
//! Both are taken in blocks, so that the hot path does not query the database for each.

use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{BigInt, Integer, Text, Timestamptz};
use purchase::PurchaseId;

use crate::Store;

/// A block of names for calls to one provider: these numbers, all within one second. The second is the database's own,
/// so that a restored backup cannot issue an old name again. Therefore a block must be used or discarded within a
/// minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallIdBlock {
    /// The first number.
    pub first: u32,
    /// The last number.
    pub last: u32,
    /// The second that makes the numbers unique.
    pub at: DateTime<Utc>,
}

struct TakeCalls;

impl Statement for TakeCalls {
    const SQL: &str = include_str!("sql/take_calls.sql");
}

struct TakePurchases;

impl Statement for TakePurchases {
    const SQL: &str = "-- take_purchase_ids
SELECT id FROM take_purchase_ids($1) AS id";
}

#[derive(diesel::QueryableByName)]
struct CallRow {
    #[diesel(sql_type = BigInt)]
    first: i64,
    #[diesel(sql_type = BigInt)]
    last: i64,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
}

#[derive(diesel::QueryableByName)]
struct PurchaseRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

impl Store {
    /// A block of `count` names for calls to this provider.
    pub async fn take_call_ids(&self, provider_code: &str, count: u16) -> Result<CallIdBlock, DatabaseError> {
        let store = self.clone();
        let provider = provider_code.to_owned();
        self.database
            .on_engine(async move {
                let transaction = store.database.begin().await?;
                let taken = prepared::<TakeCalls>()
                    .bind::<Text, _>(provider.as_str())
                    .bind::<Integer, _>(i32::from(count))
                    .get_result::<CallRow>(&transaction)
                    .await;
                let row = transaction.end(taken).await?;
                let number = |number| {
                    u32::try_from(number).map_err(|_outside| {
                        DatabaseError::corrupt("provider_call_counters", "next_number", &provider)
                    })
                };
                Ok(CallIdBlock { first: number(row.first)?, last: number(row.last)?, at: row.at })
            })
            .await
    }

    /// Takes `count` purchase numbers, in ascending order. Numbers that are taken and not used are lost. After a restore or a
    /// promotion the database skips more than may have been given out meanwhile.
    pub async fn take_purchase_ids(&self, count: u16) -> Result<Vec<PurchaseId>, DatabaseError> {
        let store = self.clone();
        self.database
            .on_engine(async move {
                let taken = prepared::<TakePurchases>().bind::<Integer, _>(i32::from(count));
                let rows: Vec<PurchaseRow> = taken.load(&*store.database.get().await?).await?;
                Ok(rows.into_iter().map(|row| PurchaseId(row.id)).collect())
            })
            .await
    }
}
