//! What a holder and an asker write about an open purchase beside its facts: a renewed lease, and a turn to ask. Both say
//! what [`Life::renewed`](purchase::Life::renewed) and [`Life::asked_about`](purchase::Life::asked_about) say, in SQL: they
//! move no money, leave no line of history, and lock nothing but the purchase's own row.

use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt};
use diesel_async::RunQueryDsl;
use purchase::{Fence, PurchaseId};

use crate::statement::{Statement, prepared};
use crate::{Store, StoreError};

/// A purchase that this process is at work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPurchase {
    /// Which.
    pub id: PurchaseId,
    /// The fence under which it is held.
    pub fence: Fence,
}

struct RenewLeases;

impl Statement for RenewLeases {
    const SQL: &str = "-- renew_leases
-- A row that is locked is being moved at this moment, and is left out: so this waits for nobody, and locks in no order.
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
    /// Renews the leases of these purchases, in one statement, and says of which. Those that another holder has claimed,
    /// that are given up, or that are being moved at this moment, stay as they are.
    pub async fn renew_leases(&self, held: Vec<HeldPurchase>) -> Result<Vec<HeldPurchase>, StoreError> {
        let lease = microseconds(self.timing.lease);
        self.write_alone(move |connection| {
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

    /// Takes the next turn to have an enquiry made for an integrator. False if one was taken a moment ago, in whatever
    /// process, or if the purchase has moved on from `fence`.
    pub async fn take_turn(&self, id: PurchaseId, fence: Fence) -> Result<bool, StoreError> {
        let gap = microseconds(self.timing.enquiry_gap);
        self.write_alone(move |connection| {
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
