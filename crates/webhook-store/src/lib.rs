//! The webhook endpoints of organisations in Postgres, how far the feed was delivered to them, and what came of it, as whole atomic
//! operations.
#![warn(missing_docs)]

use std::{fmt, sync::Arc};

use database::Database;
use store::{SealingKeys, Store};

mod asks;
mod deliveries;
mod endpoints;

pub use asks::{AGAIN_MAX, Again, Asked, AttemptRecord};
pub use deliveries::{Attempt, Lane, Retry, Round, Taken};
pub use endpoints::EndpointError;
pub use feed::Position;

/// The endpoints of all organisations. Clones are handles to the same ones.
#[derive(Clone)]
pub struct WebhookStore {
    database: Database,
    /// Seals the keys that sign messages.
    sealing: Arc<SealingKeys>,
}

impl WebhookStore {
    /// The endpoints in the database of `store`, sealed by its keys.
    pub fn on(store: &Store) -> Self {
        Self { database: store.database().clone(), sealing: store.sealing().clone() }
    }
}

impl fmt::Debug for WebhookStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookStore").field("database", &self.database).finish_non_exhaustive()
    }
}
