//! The operator's view: purchases of all organisations, the complete story of one purchase, messages and
//! incidents.
//!
//! This crate opens nothing that is sealed. An operator needs no token to see the state of a purchase.

mod incidents;
mod list;
mod messages;
mod schema;
mod search;
mod story;
mod webhooks;

pub use incidents::{IncidentError, IncidentRecord, close_incident, find_incident, list_incidents};
pub use list::{Overseen, OverseenStates, OversightQuery, oversee_purchases};
pub use messages::{EarlierMessage, MessageRecord, OverseenMessages, oversee_messages};
pub use search::{FoundPurchase, PurchaseSearch, search_purchases};
pub use story::{
    Story, StoryAmounts, StoryAttempt, StoryEntry, StoryEvent, StoryMove, StoryPurchase, StoryReply,
    audit_subjects_of_purchase, oversee_purchase,
};
pub use webhooks::{WebhookFailure, WebhookRecord, oversee_webhooks};
