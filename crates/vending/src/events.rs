//! The feed, as an integrator reads it.

use std::time::Duration;

use feed::{EventType, Feed, FeedPage, Position};
use purchase::OrganisationId;
use store::Store;

use crate::{ReadError, Vending, refusals::internal};

/// The feed in the store's database.
pub(crate) fn feed_of(store: &Store) -> Feed {
    Feed::on(store.database().clone())
}

impl Vending {
    /// At most `limit` of the organisation's events of these types after a position, or the oldest ones that are kept. If
    /// there is none, waits until there is one, for `wait` at most. `None` if events after the position were deleted.
    pub async fn events(
        &self,
        organisation: OrganisationId,
        after: Option<Position>,
        types: &[EventType],
        limit: u16,
        wait: Duration,
    ) -> Result<Option<FeedPage>, ReadError> {
        let page = self.0.feed.events_within(organisation, after, types, limit, wait).await;
        Ok(page.map_err(|error| internal("events could not be read", &error))?)
    }

    /// Ends all waits for events, now and later, because the process stops.
    pub fn end_waits(&self) {
        self.0.feed.end_waits();
    }
}
