//! The operator's view: purchases of everybody, the whole story of one, what came to light too late, and a person's
//! decision about what no provider can tell.
//!
//! Nothing here opens what is sealed: who looks after the service needs no token to see where it is.

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
    Story, StoryAmounts, StoryAttempt, StoryEntry, StoryEvent, StoryFailure, StoryMove, StoryPurchase,
    StoryReply,
};
