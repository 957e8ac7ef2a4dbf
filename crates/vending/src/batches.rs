//! Batches: many purchases that are requested at once. All lines are checked before anything is stored. The worker buys them later.

use batch_store::{AddError, Batch, BatchId, BatchStore, Change, ChangeError, Line, LineState, NewBatch};
use database::DatabaseError;
use purchase::{Authority, OrganisationId, PurchaseRequest};

use crate::{ReadError, Rejection, Service, Vending, refusals::internal};

/// How many lines are checked before the other work of this thread has its turn.
const LINES_AT_A_STRETCH: usize = 50;

/// Why a batch was not made. Nothing of it is stored.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// These lines cannot be bought: the index of each, and why.
    #[error("{} lines of the batch cannot be bought", .0.len())]
    Lines(Vec<(usize, Rejection)>),
    /// The sum of the amounts is no amount, or the lines do not belong together.
    #[error("the lines of the batch do not add up")]
    Malformed,
    /// A batch with other content has this reference.
    #[error("the organisation has another batch of this reference")]
    OtherContent,
    /// The organisation has as many unfinished batches as it may have.
    #[error("the organisation has as many unfinished batches as it may have")]
    TooMany,
    /// A fault of this service. It is logged where it happened.
    #[error(transparent)]
    Failed(#[from] ReadError),
}

/// Why a batch was not changed.
#[derive(Debug, thiserror::Error)]
pub enum BatchChangeError {
    /// The organisation has no such batch.
    #[error("the organisation has no such batch")]
    Absent,
    /// Its status does not allow it.
    #[error("the batch is {}", .0.as_str())]
    Not(batch_store::BatchStatus),
    /// A fault of this service. It is logged where it happened.
    #[error(transparent)]
    Failed(#[from] ReadError),
}

impl Vending {
    /// Checks every line, and then makes the batch whole. The same batch again is the one that is there.
    ///
    /// The check is the one of a confirm without the provider: the product, its offer, the wallet, the form of the identifier, the
    /// allow-list and the price. A pause of a provider is no mistake, because the lines wait for its end.
    pub async fn add_batch(&self, new: NewBatch) -> Result<Batch, BatchError> {
        let organisation = new.authority.organisation;
        let wrong = self.0.wrong_lines(organisation, &new.lines).await?;
        if !wrong.is_empty() {
            return Err(BatchError::Lines(wrong));
        }
        let id = self.batches().add(new).await.map_err(not_added)?;
        let batch = self.batch(organisation, id).await?;
        batch.ok_or(BatchError::Failed(ReadError::Internal))
    }

    /// One batch, if it is the organisation's.
    pub async fn batch(&self, organisation: OrganisationId, id: BatchId) -> Result<Option<Batch>, ReadError> {
        self.batches().find(organisation, id).await.map_err(|error| failed(&error))
    }

    /// At most `limit` batches of an organisation, the newest first, with smaller numbers than `before`.
    pub async fn batch_list(
        &self,
        organisation: OrganisationId,
        before: Option<BatchId>,
        limit: u16,
    ) -> Result<Vec<Batch>, ReadError> {
        self.batches().list(organisation, before, limit).await.map_err(|error| failed(&error))
    }

    /// At most `limit` lines of a batch behind line `after`, of one state or of all. `None` if the organisation has no such batch.
    pub async fn batch_lines(
        &self,
        organisation: OrganisationId,
        id: BatchId,
        after: u32,
        state: Option<LineState>,
        limit: u16,
    ) -> Result<Option<Vec<Line>>, ReadError> {
        if self.batch(organisation, id).await?.is_none() {
            return Ok(None);
        }
        let lines = self.batches().lines(id, after, state, limit).await;
        lines.map(Some).map_err(|error| failed(&error))
    }

    /// Pauses, resumes or cancels a batch. Returns it as it is afterwards.
    pub async fn change_batch(
        &self,
        authority: &Authority,
        id: BatchId,
        change: Change,
    ) -> Result<Batch, BatchChangeError> {
        let changed = self.batches().change(authority.organisation, authority.user, id, change).await;
        changed.map_err(not_changed)?;
        let batch = self.batch(authority.organisation, id).await?;
        batch.ok_or(BatchChangeError::Absent)
    }

    fn batches(&self) -> BatchStore {
        BatchStore::on(&self.0.store)
    }
}

impl Service {
    /// The lines that cannot be bought, by their index.
    async fn wrong_lines(
        &self,
        organisation: OrganisationId,
        lines: &[PurchaseRequest],
    ) -> Result<Vec<(usize, Rejection)>, ReadError> {
        let mut wrong = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            if index % LINES_AT_A_STRETCH == 0 {
                tokio::task::yield_now().await;
            }
            match self.price(organisation, line).await {
                Ok(_) | Err(Rejection::Paused { .. }) => {}
                Err(Rejection::Overloaded) => return Err(ReadError::Overloaded),
                Err(Rejection::Internal) => return Err(ReadError::Internal),
                Err(rejection) => wrong.push((index, rejection)),
            }
        }
        Ok(wrong)
    }
}

fn not_added(error: AddError) -> BatchError {
    match error {
        AddError::Malformed => BatchError::Malformed,
        AddError::OtherContent => BatchError::OtherContent,
        AddError::TooMany => BatchError::TooMany,
        AddError::Database(error) => failed(&error).into(),
    }
}

fn not_changed(error: ChangeError) -> BatchChangeError {
    match error {
        ChangeError::Absent => BatchChangeError::Absent,
        ChangeError::Not(status) => BatchChangeError::Not(status),
        ChangeError::Database(error) => failed(&error).into(),
    }
}

fn failed(error: &DatabaseError) -> ReadError {
    internal("the batches could not be read or changed", error).into()
}
