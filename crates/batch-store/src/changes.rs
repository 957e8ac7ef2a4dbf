//! What the owner of a batch does to it: pause, resume, cancel.

use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Text},
};
use purchase::{OrganisationId, UserId};

use crate::{BatchId, BatchStatus, BatchStore, row::status};

/// What is to be done to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Begin no line for the time being.
    Pause,
    /// Go on.
    Resume,
    /// Begin no line any more. This is final.
    Cancel,
}

/// Why a batch was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The organisation has no such batch.
    #[error("the organisation has no such batch")]
    Absent,
    /// Its status does not allow it.
    #[error("the batch is {}", .0.as_str())]
    Not(BatchStatus),
    /// The database refused it or was not available.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

struct LockBatch;

impl Statement for LockBatch {
    const SQL: &str = "-- lock_batch
SELECT status FROM batches WHERE organisation_id = $1 AND id = $2 FOR NO KEY UPDATE";
}

struct SetStatus;

impl Statement for SetStatus {
    const SQL: &str = "-- set_batch_status
UPDATE batches SET status = $2, status_since = clock_timestamp(), changed_by = $3,
    paused_because = CASE WHEN $2 = 'PAUSED' THEN 'REQUESTED' END
WHERE id = $1";
}

/// The batch is locked, so no line of it is put back meanwhile. With the last open line, the batch is finished.
struct CancelLines;

impl Statement for CancelLines {
    const SQL: &str = "-- cancel_batch_lines
UPDATE batch_lines SET state = 'CANCELLED', ended_at = clock_timestamp() WHERE batch_id = $1 AND state = 'WAITING'";
}

#[derive(QueryableByName)]
struct StatusRow {
    #[diesel(sql_type = Text)]
    status: String,
}

impl Change {
    /// The status that it leads to, from those that allow it. `None` if there is nothing to do.
    fn leads_to(self, from: BatchStatus) -> Result<Option<BatchStatus>, ChangeError> {
        match (self, from) {
            (Self::Pause, BatchStatus::Running) => Ok(Some(BatchStatus::Paused)),
            (Self::Resume, BatchStatus::Paused) => Ok(Some(BatchStatus::Running)),
            (Self::Cancel, BatchStatus::Running | BatchStatus::Paused) => Ok(Some(BatchStatus::Cancelling)),
            (Self::Pause, BatchStatus::Paused)
            | (Self::Resume, BatchStatus::Running)
            | (Self::Cancel, BatchStatus::Cancelling) => Ok(None),
            (Self::Pause | Self::Resume, BatchStatus::Cancelling | BatchStatus::Finished)
            | (Self::Cancel, BatchStatus::Finished) => Err(ChangeError::Not(from)),
        }
    }
}

impl BatchStore {
    /// Changes a batch of the organisation. To do again what is done already changes nothing.
    pub async fn change(
        &self,
        organisation: OrganisationId,
        user: UserId,
        id: BatchId,
        change: Change,
    ) -> Result<(), ChangeError> {
        let changed = self.database.operate(move |transaction| {
            Box::pin(async move {
                let rows: Vec<StatusRow> = prepared::<LockBatch>()
                    .bind::<BigInt, _>(organisation.0)
                    .bind::<BigInt, _>(id.0)
                    .load(transaction)
                    .await?;
                let Some(row) = rows.first() else { return Ok(Err(ChangeError::Absent)) };
                let to = match change.leads_to(status(&row.status, id)?) {
                    Ok(Some(to)) => to,
                    Ok(None) => return Ok(Ok(())),
                    Err(refused) => return Ok(Err(refused)),
                };
                prepared::<SetStatus>()
                    .bind::<BigInt, _>(id.0)
                    .bind::<Text, _>(to.as_str())
                    .bind::<BigInt, _>(user.0)
                    .execute(transaction)
                    .await?;
                if to == BatchStatus::Cancelling {
                    prepared::<CancelLines>().bind::<BigInt, _>(id.0).execute(transaction).await?;
                }
                Ok(Ok(()))
            })
        });
        changed.await?
    }
}
