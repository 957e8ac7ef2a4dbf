//! What a holder and an enquirer write about an open purchase apart from its events: a renewed lease, and a turn to
//! enquire. The statements do in SQL what [`Lifecycle::renewed`](purchase::Lifecycle::renewed) and
//! [`Lifecycle::asked_about`](purchase::Lifecycle::asked_about) do. They move no money, write no history, and lock only
//! the purchase's own row.

use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt},
};
use purchase::{Fence, PurchaseId};

use crate::Store;

/// A purchase that this process is working on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPurchase {
    /// Its number.
    pub id: PurchaseId,
    /// The fence under which it is held.
    pub fence: Fence,
}

struct RenewLeases;

impl Statement for RenewLeases {
    const SQL: &str = "-- renew_leases
-- A locked row is being moved at this moment and is skipped. So this statement waits for no lock, and needs no lock
-- order.
WITH held AS (
    SELECT p.id FROM purchases p JOIN unnest($1, $2) AS h (id, fence) ON p.id = h.id AND p.fence = h.fence
    WHERE p.lease_until IS NOT NULL
    FOR NO KEY UPDATE OF p SKIP LOCKED
)
UPDATE purchases p SET lease_until = n.at + $3 * interval '1 microsecond', due_at = n.at + $3 * interval '1 microsecond'
FROM held, (SELECT clock_timestamp() AS at) n
WHERE p.id = held.id
RETURNING p.id, p.fence";
}

#[derive(QueryableByName)]
struct RenewedRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    fence: i64,
}

struct TakeTurn;

impl Statement for TakeTurn {
    const SQL: &str = "-- take_turn
UPDATE purchases SET asked_at = clock_timestamp()
WHERE id = $1 AND fence = $2 AND state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')
    AND (asked_at IS NULL OR asked_at <= clock_timestamp() - $3 * interval '1 microsecond')";
}

impl Store {
    /// Renews the leases of these purchases in one statement, and returns those that it renewed. A purchase stays as it
    /// is if another holder has claimed it, if its lease was released, or if it is being moved at this moment.
    pub async fn renew_leases(&self, held: Vec<HeldPurchase>) -> Result<Vec<HeldPurchase>, DatabaseError> {
        let lease = microseconds(self.timing.lease);
        self.database
            .write_alone(move |connection| {
                Box::pin(async move {
                    let renew = prepared::<RenewLeases>()
                        .bind::<Array<BigInt>, _>(held.iter().map(|held| held.id.0).collect::<Vec<_>>())
                        .bind::<Array<BigInt>, _>(held.iter().map(|held| held.fence.0).collect::<Vec<_>>())
                        .bind::<BigInt, _>(lease);
                    let renewed: Vec<RenewedRow> = renew.load(connection).await?;
                    let held =
                        |row: &RenewedRow| HeldPurchase { id: PurchaseId(row.id), fence: Fence(row.fence) };
                    Ok(renewed.iter().map(held).collect())
                })
            })
            .await
    }

    /// Takes the next turn to enquire for an integrator. Returns false if any process took a turn less than the enquiry
    /// gap ago, or if the purchase has moved on from `fence`.
    pub async fn take_turn(&self, id: PurchaseId, fence: Fence) -> Result<bool, DatabaseError> {
        let gap = microseconds(self.timing.enquiry_gap);
        self.database
            .write_alone(move |connection| {
                Box::pin(async move {
                    let take = prepared::<TakeTurn>().bind::<BigInt, _>(id.0).bind::<BigInt, _>(fence.0);
                    Ok(take.bind::<BigInt, _>(gap).execute(connection).await? == 1)
                })
            })
            .await
    }
}

fn microseconds(length: std::time::Duration) -> i64 {
    i64::try_from(length.as_micros()).unwrap_or(i64::MAX)
}
