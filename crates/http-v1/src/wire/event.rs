//! Events, in the form that the feed gives them.

use feed::{Body, FeedEvent, FeedPage};
use serde::Serialize;
use utoipa::ToSchema;

use crate::schema::events::Event;

/// Some events, in the order of the feed.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventPage<'a> {
    #[schema(value_type = Vec<Event>)]
    data: Vec<Body<'a>>,
    /// What to send as `cursor` for the events after these. It is there even if there are none yet.
    next_cursor: String,
    /// Whether to ask for the next page at once. It may turn out empty.
    has_more: bool,
}

impl<'a> EventPage<'a> {
    /// A page of the feed.
    pub fn new(page: &'a FeedPage, next_cursor: String) -> Self {
        let data = page.events.iter().map(FeedEvent::body).collect();
        Self { data, next_cursor, has_more: page.has_more }
    }
}
