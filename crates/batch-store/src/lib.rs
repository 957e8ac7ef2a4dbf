//! Batches in Postgres: what an organisation wants to buy, what the worker takes of it, and what came of it, as whole atomic
//! operations. No money moves here: each line is bought by the reserve of every purchase.
#![warn(missing_docs)]

use std::{fmt, sync::Arc};

use database::Database;
use store::{SealingKeys, Store};

mod adding;
mod batch;
mod changes;
mod line;
mod reading;
mod row;
mod work;

pub use adding::{AddError, NewBatch};
pub use batch::{
    Batch, BatchId, BatchStatus, LineState, OPEN_BATCHES_MAX, PausedBecause, REFERENCE_MAX, Share,
};
pub use changes::{Change, ChangeError};
pub use line::{Line, LinePurchase, StoredRejection};
pub use work::{Ending, TakenLine};

/// The batches of all organisations. Clones are handles to the same ones.
#[derive(Clone)]
pub struct BatchStore {
    database: Database,
    /// For what a worker takes, like its claims of purchases.
    claiming: Database,
    /// Opens the tokens of what was sold.
    sealing: Arc<SealingKeys>,
}

impl BatchStore {
    /// The batches in the database of `store`, with the tokens that its keys open.
    pub fn on(store: &Store) -> Self {
        Self {
            database: store.database().clone(),
            claiming: store.claiming().clone(),
            sealing: store.sealing().clone(),
        }
    }
}

impl fmt::Debug for BatchStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchStore").field("database", &self.database).finish_non_exhaustive()
    }
}
