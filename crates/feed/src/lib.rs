//! The feed: what happened to an organisation's things, in an order that never changes.
//!
//! Events are written by the transaction that made them true (`migrations/2026-11-24-000040_feed/up.sql`), so this crate
//! only reads. It also has the one JSON form of an event, so that all who are told of an event are told the same.

use std::{fmt, sync::Arc};

use database::Database;

mod body;
mod event;
mod measures;
mod page;
mod position;
mod types;
mod waiting;

pub use body::Body;
pub use event::{FeedEvent, PurchaseFacts, Subject};
pub use measures::describe_metrics;
pub use page::FeedPage;
pub use position::Position;
pub use types::EventType;

use waiting::Waiters;

/// The feed of all organisations. Clones are handles to the same one: its callers wait together.
#[derive(Clone)]
pub struct Feed {
    database: Database,
    waiters: Arc<Waiters>,
}

impl Feed {
    /// The feed in this database.
    pub fn on(database: Database) -> Self {
        Self { database, waiters: Arc::default() }
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("database", &self.database).finish_non_exhaustive()
    }
}
