//! The operator's view: purchases of all organisations, the complete story of one purchase, incidents, and an
//! operator's decision where no provider can answer.
//!
//! This module opens nothing that is sealed. An operator needs no token to see the state of a purchase.

mod decision;
mod incidents;
mod list;
mod messages;
mod story;

pub use decision::{Decided, Decision, DecisionError};
pub use incidents::{IncidentError, IncidentRecord};
pub use list::{Overseen, OverseenStates, OversightQuery};
pub use messages::{MessageRecord, OverseenMessages};
pub use story::{
    Story, StoryAmounts, StoryAttempt, StoryEntry, StoryEvent, StoryMove, StoryPurchase, StoryReply,
};
