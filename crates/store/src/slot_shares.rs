//! A worker's share of the slots that a provider has for all workers together. Shares are leased, as purchases are: the share
//! of a worker that dies goes to the others when its lease ends. A claim needs no statement for it, because a worker counts
//! what it has in hand by itself.

use std::collections::BTreeMap;

use database::{DatabaseError, Run, Statement, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Integer, Text},
};

use crate::Store;

/// The name of a worker among all workers that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerId(pub i64);

/// What a worker wants of the slots of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedSlots {
    /// The code of the provider.
    pub provider_code: String,
    /// The most slots that it would take. Zero: it is stopping.
    pub most: u16,
    /// How many purchases of this provider it has in hand. Until it knows its new share, it must not claim more.
    pub in_hand: u16,
}

struct RenewSlotShares;

impl Statement for RenewSlotShares {
    const SQL: &str = "-- renew_slot_shares
SELECT code, share FROM renew_slot_shares($1, $2, $3, $4, $5 * interval '1 microsecond')";
}

#[derive(QueryableByName)]
struct ShareRow {
    #[diesel(sql_type = Text)]
    code: String,
    #[diesel(sql_type = Integer)]
    share: i32,
}

struct GiveUpSlotShares;

impl Statement for GiveUpSlotShares {
    const SQL: &str = "-- give_up_slot_shares
DELETE FROM slot_shares WHERE worker = $1";
}

impl Store {
    /// Renews the worker's shares for the length of a lease, and returns how many slots of each provider it may use until then.
    /// The lease counts from before this call. A provider that is not in the catalogue is left out.
    ///
    /// # Errors
    /// After an error the shares may be smaller than they were. So the worker must claim nothing until it knows them.
    pub async fn renew_slot_shares(
        &self,
        worker: WorkerId,
        wanted: Vec<WantedSlots>,
    ) -> Result<BTreeMap<String, u16>, DatabaseError> {
        let lease = i64::try_from(self.timing.lease.as_micros()).unwrap_or(i64::MAX);
        self.database
            .write_alone(move |connection| {
                Box::pin(async move {
                    let renew = prepared::<RenewSlotShares>()
                        .bind::<BigInt, _>(worker.0)
                        .bind::<Array<Text>, _>(column(&wanted, |wanted| wanted.provider_code.as_str()))
                        .bind::<Array<Integer>, _>(column(&wanted, |wanted| i32::from(wanted.most)))
                        .bind::<Array<Integer>, _>(column(&wanted, |wanted| i32::from(wanted.in_hand)))
                        .bind::<BigInt, _>(lease);
                    let shares: Vec<ShareRow> = renew.load(connection).await?;
                    let share = |row: ShareRow| (row.code, u16::try_from(row.share).unwrap_or_default());
                    Ok(shares.into_iter().map(share).collect())
                })
            })
            .await
    }

    /// Leaves the worker's shares to the others at once. Only for a worker that has nothing in hand and claims nothing more.
    pub async fn give_up_slot_shares(&self, worker: WorkerId) -> Result<(), DatabaseError> {
        self.database
            .write_alone(move |connection| {
                Box::pin(async move {
                    prepared::<GiveUpSlotShares>()
                        .bind::<BigInt, _>(worker.0)
                        .execute(connection)
                        .await
                        .map(drop)
                })
            })
            .await
    }
}
