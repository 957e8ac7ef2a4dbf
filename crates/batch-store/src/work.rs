//! What a worker takes, buys and records. One worker at a time has a line, until its lease ends.
//!
//! A line names its purchase before any money is held: the purchase is made under the line's own idempotency key, which the
//! database admits once, for ever. So a worker that takes a line again finds the purchase that an earlier one has made.

use std::time::Duration;

use database::{DatabaseError, Run, Statement, Transaction, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Integer, Nullable, Text},
};
use failpoint::{Point, hit};
use purchase::{Authority, IdempotencyKey, PurchaseId, PurchaseRequest, StateName};
use store::{BatchClaim, DueSlots};

use crate::{BatchStore, LineState, PausedBecause, StoredRejection};

#[cfg(test)]
mod plans;
mod row;

use row::TakenRow;

/// A line that belongs to the caller until its lease ends.
#[derive(Clone, Debug)]
pub struct TakenLine {
    /// The line, and the number of this claim.
    pub claim: BatchClaim,
    /// How often it was put back.
    pub tries: u16,
    /// Whether its batch may begin lines. If not, an earlier worker had begun this one and has not ended it.
    pub is_running: bool,
    /// Under whose authority it is bought.
    pub authority: Authority,
    /// The key under which it is bought. No other purchase can have it.
    pub key: IdempotencyKey,
    /// The `X-Request-Id` of its batch.
    pub request_id: Option<String>,
    /// What is bought.
    pub request: PurchaseRequest,
}

/// What has become of a line that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was bought. The state is that of its purchase.
    Bought(PurchaseId, StateName),
    /// Nothing was bought, and nothing will be.
    Rejected(StoredRejection),
    /// Nothing was bought. It is tried again after this time.
    PutBack {
        /// How long it waits.
        pause: Duration,
        /// Whether the try counts.
        counts: bool,
    },
    /// Nothing was bought, because its client, its user or its organisation may not buy. No line of its batch is begun.
    NotAuthorised,
}

struct TakeLines;

impl Statement for TakeLines {
    const SQL: &str = include_str!("sql/take_batch_lines.sql");
}

struct FindPurchase;

impl Statement for FindPurchase {
    const SQL: &str = "-- find_purchase_of_batch_line
SELECT id, state FROM purchases WHERE client_id = $1 AND idempotency_key = $2";
}

struct EndLine;

impl Statement for EndLine {
    const SQL: &str = "-- end_batch_line
UPDATE batch_lines SET state = $4, purchase_id = $5, rejection = $6, rejection_reason = $7, rejection_amount = $8,
    ended_at = CASE WHEN $4 <> 'PENDING' THEN clock_timestamp() END
WHERE batch_id = $1 AND number = $2 AND fence = $3 AND state = 'BUYING'";
}

/// A batch that is cancelled at the same moment cancels its waiting lines. So it is locked first.
struct LockBatch;

impl Statement for LockBatch {
    const SQL: &str = "-- lock_batch_of_line
SELECT id FROM batches WHERE id = $1 FOR NO KEY UPDATE";
}

struct PutLineBack;

impl Statement for PutLineBack {
    const SQL: &str = "-- put_batch_line_back
UPDATE batch_lines l SET state = CASE WHEN b.status = 'CANCELLING' THEN 'CANCELLED' ELSE 'WAITING' END,
    ended_at = CASE WHEN b.status = 'CANCELLING' THEN clock_timestamp() END, tries = l.tries + $4,
    due_at = clock_timestamp() + $5 * interval '1 millisecond'
FROM batches b
WHERE l.batch_id = $1 AND l.number = $2 AND l.fence = $3 AND l.state = 'BUYING' AND b.id = l.batch_id";
}

struct PauseBatch;

impl Statement for PauseBatch {
    const SQL: &str = "-- pause_batch
UPDATE batches SET status = 'PAUSED', status_since = clock_timestamp(), paused_because = $2, changed_by = NULL
WHERE id = $1 AND status = 'RUNNING'";
}

/// The lines of one batch at a time, so that no two workers lock batches in another order.
struct SettleLines;

impl Statement for SettleLines {
    const SQL: &str = "-- settle_batch_lines
WITH ended AS MATERIALIZED (
    SELECT l.batch_id, l.number, p.state
    FROM batch_lines l
    JOIN purchases p ON p.id = l.purchase_id
    WHERE l.state = 'PENDING' AND p.ended_at IS NOT NULL AND l.batch_id = (
        SELECT f.batch_id FROM batch_lines f JOIN purchases q ON q.id = f.purchase_id
        WHERE f.state = 'PENDING' AND q.ended_at IS NOT NULL ORDER BY f.purchase_id LIMIT 1)
    ORDER BY l.number LIMIT 500
    FOR NO KEY UPDATE OF l SKIP LOCKED
)
UPDATE batch_lines l SET state = ended.state, ended_at = clock_timestamp()
FROM ended WHERE l.batch_id = ended.batch_id AND l.number = ended.number";
}

#[derive(QueryableByName)]
struct PurchaseRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    state: String,
}

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    #[expect(dead_code, reason = "the row is only locked")]
    id: i64,
}

impl BatchStore {
    /// Takes lines that can be bought now, up to the slots of each provider. Until `lease` ends, no other worker takes them.
    pub async fn take(&self, slots: Vec<DueSlots>, lease: Duration) -> Result<Vec<TakenLine>, DatabaseError> {
        if slots.is_empty() {
            return Ok(Vec::new());
        }
        let taken = self.claiming.operate(move |transaction| {
            Box::pin(async move {
                let in_hand = DueSlots::in_hand(&slots);
                prepared::<TakeLines>()
                    .bind::<Array<Text>, _>(column(&slots, |due| due.provider_code.as_str()))
                    .bind::<Array<BigInt>, _>(column(&slots, |due| i64::from(due.slots)))
                    .bind::<Array<Text>, _>(column(&in_hand, |(provider_code, ..)| *provider_code))
                    .bind::<Array<BigInt>, _>(column(&in_hand, |(_provider, organisation, _count)| {
                        organisation.0
                    }))
                    .bind::<Array<BigInt>, _>(column(&in_hand, |(.., count)| i64::from(*count)))
                    .bind::<BigInt, _>(milliseconds(lease))
                    .load::<TakenRow>(transaction)
                    .await
            })
        });
        let taken: Vec<TakenLine> =
            taken.await?.into_iter().map(TakenLine::try_from).collect::<Result<_, _>>()?;
        if !taken.is_empty() {
            hit(Point::BatchLineTaken);
        }
        Ok(taken)
    }

    /// The purchase that was made for a line, whichever worker made it and whatever became of it.
    pub async fn find_purchase(
        &self,
        line: &TakenLine,
    ) -> Result<Option<(PurchaseId, StateName)>, DatabaseError> {
        let (client, key) = (line.authority.client, line.key.clone());
        let found = self.database.read(move |connection| {
            Box::pin(async move {
                prepared::<FindPurchase>()
                    .bind::<BigInt, _>(client.0)
                    .bind::<Text, _>(key.as_str())
                    .load::<PurchaseRow>(connection)
                    .await
            })
        });
        let read = |row: PurchaseRow| match StateName::parse(&row.state) {
            Some(state) => Ok((PurchaseId(row.id), state)),
            None => Err(DatabaseError::corrupt("purchases", "state", row.id)),
        };
        found.await?.into_iter().next().map(read).transpose()
    }

    /// Records what has become of a line, and gives it back. Whether it still belonged to the caller: if not, nothing is recorded.
    pub async fn record(&self, claim: BatchClaim, ending: Ending) -> Result<bool, DatabaseError> {
        let recorded = self.database.operate(move |transaction| {
            Box::pin(async move {
                match ending {
                    Ending::Bought(purchase, state) => {
                        end(transaction, claim, state_after(state), Some(purchase), None).await
                    }
                    Ending::Rejected(why) => {
                        end(transaction, claim, LineState::Failed, None, Some(&why)).await
                    }
                    Ending::PutBack { pause, counts } => put_back(transaction, claim, pause, counts).await,
                    Ending::NotAuthorised => {
                        let is_own = put_back(transaction, claim, Duration::ZERO, false).await?;
                        if is_own {
                            prepared::<PauseBatch>()
                                .bind::<BigInt, _>(claim.batch)
                                .bind::<Text, _>(PausedBecause::NotAuthorised.as_str())
                                .execute(transaction)
                                .await?;
                        }
                        Ok(is_own)
                    }
                }
            })
        });
        recorded.await
    }

    /// Ends lines whose purchases have ended since they were bought. Returns how many; there may be more.
    pub async fn settle(&self) -> Result<usize, DatabaseError> {
        let settled = self.database.operate(move |transaction| {
            Box::pin(async move { prepared::<SettleLines>().execute(transaction).await })
        });
        settled.await
    }
}

const fn state_after(purchase: StateName) -> LineState {
    match purchase {
        StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => {
            LineState::Pending
        }
        StateName::Successful => LineState::Successful,
        StateName::Failed => LineState::Failed,
    }
}

async fn end(
    transaction: &Transaction,
    claim: BatchClaim,
    state: LineState,
    purchase: Option<PurchaseId>,
    rejection: Option<&StoredRejection>,
) -> Result<bool, DatabaseError> {
    let ended = prepared::<EndLine>()
        .bind::<BigInt, _>(claim.batch)
        .bind::<Integer, _>(claim.line)
        .bind::<BigInt, _>(claim.fence)
        .bind::<Text, _>(state.as_str())
        .bind::<Nullable<BigInt>, _>(purchase.map(|id| id.0))
        .bind::<Nullable<Text>, _>(rejection.map(|why| why.kind.as_str()))
        .bind::<Nullable<Text>, _>(rejection.and_then(|why| why.reason.as_deref()))
        .bind::<Nullable<BigInt>, _>(rejection.and_then(|why| why.amount))
        .execute(transaction)
        .await?;
    Ok(ended == 1)
}

async fn put_back(
    transaction: &Transaction,
    claim: BatchClaim,
    pause: Duration,
    counts: bool,
) -> Result<bool, DatabaseError> {
    prepared::<LockBatch>().bind::<BigInt, _>(claim.batch).load::<IdRow>(transaction).await?;
    let put = prepared::<PutLineBack>()
        .bind::<BigInt, _>(claim.batch)
        .bind::<Integer, _>(claim.line)
        .bind::<BigInt, _>(claim.fence)
        .bind::<Integer, _>(i32::from(counts))
        .bind::<BigInt, _>(milliseconds(pause))
        .execute(transaction)
        .await?;
    Ok(put == 1)
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
