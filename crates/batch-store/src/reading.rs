//! What an organisation reads of its batches.

use database::{DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{BigInt, Nullable, Text};
use purchase::OrganisationId;

use crate::{
    Batch, BatchId, BatchStore, Line, LineState,
    row::{BatchRow, LineRow},
};

/// What is read of a batch: one row for each state that its lines are in.
macro_rules! select_batches {
    ($name:literal, $chosen:literal) => {
        concat!(
            "-- ",
            $name,
            "
WITH chosen AS MATERIALIZED (SELECT * FROM batches b WHERE b.organisation_id = $1 ",
            $chosen,
            ")
SELECT b.id, b.reference, b.account_id, b.currency, b.amount, b.lines, b.status, b.status_since, b.paused_because, b.created_at,
    s.state, s.state_lines, s.state_amount
FROM chosen b
CROSS JOIN LATERAL (
    SELECT l.state, count(*) AS state_lines, sum(l.amount)::bigint AS state_amount
    FROM batch_lines l WHERE l.batch_id = b.id GROUP BY l.state
) s
ORDER BY b.id DESC"
        )
    };
}

struct ListBatches;

impl Statement for ListBatches {
    const SQL: &str = select_batches!("list_batches", "AND b.id < $2 ORDER BY b.id DESC LIMIT $3");
}

struct GetBatch;

impl Statement for GetBatch {
    const SQL: &str = select_batches!("get_batch", "AND b.id = $2");
}

struct ListLines;

impl Statement for ListLines {
    const SQL: &str = "-- list_batch_lines
SELECT l.number, l.product, l.provider_code, l.subscriber_identifier, l.external_reference, l.currency, l.amount, l.state, l.ended_at,
    l.rejection, l.rejection_reason, l.rejection_amount, p.id AS purchase_id, p.reference, p.total, p.failure, p.failure_reason,
    p.failure_wording, p.token_key_id, p.sealed_token
FROM batch_lines l
LEFT JOIN purchases p ON p.id = l.purchase_id
WHERE l.batch_id = $1 AND l.number > $2 AND ($3 IS NULL OR l.state = $3)
ORDER BY l.number LIMIT $4";
}

impl BatchStore {
    /// At most `limit` batches of an organisation, the newest first, with smaller numbers than `before`.
    pub async fn list(
        &self,
        organisation: OrganisationId,
        before: Option<BatchId>,
        limit: u16,
    ) -> Result<Vec<Batch>, DatabaseError> {
        let rows = self.database.read(move |connection| {
            let batches = prepared::<ListBatches>()
                .bind::<BigInt, _>(organisation.0)
                .bind::<BigInt, _>(before.map_or(i64::MAX, |before| before.0))
                .bind::<BigInt, _>(i64::from(limit));
            Box::pin(async move { batches.load::<BatchRow>(connection).await })
        });
        BatchRow::together(rows.await?)
    }

    /// One batch, if it is the organisation's.
    pub async fn find(
        &self,
        organisation: OrganisationId,
        id: BatchId,
    ) -> Result<Option<Batch>, DatabaseError> {
        let rows = self.database.read(move |connection| {
            let batch = prepared::<GetBatch>().bind::<BigInt, _>(organisation.0).bind::<BigInt, _>(id.0);
            Box::pin(async move { batch.load::<BatchRow>(connection).await })
        });
        Ok(BatchRow::together(rows.await?)?.into_iter().next())
    }

    /// At most `limit` lines of a batch behind line `after`, in their order, of one state or of all. The caller has made sure that it
    /// is a batch of the organisation.
    pub async fn lines(
        &self,
        id: BatchId,
        after: u32,
        state: Option<LineState>,
        limit: u16,
    ) -> Result<Vec<Line>, DatabaseError> {
        let rows = self.database.read(move |connection| {
            let lines = prepared::<ListLines>()
                .bind::<BigInt, _>(id.0)
                .bind::<BigInt, _>(i64::from(after))
                .bind::<Nullable<Text>, _>(state.map(LineState::as_str))
                .bind::<BigInt, _>(i64::from(limit));
            Box::pin(async move { lines.load::<LineRow>(connection).await })
        });
        rows.await?.into_iter().map(|row| row.line(id, &self.sealing)).collect()
    }
}
