//! Sends the events of organisations to their webhook endpoints.
//!
//! A worker takes an endpoint that has something due, sends what it finds in the feed after the endpoint's position and what is due
//! again, and gives the endpoint back with what came of it. Delivery is at least once: if a process dies in between, the events of the
//! round are sent again under the same ids. No body, address or key is ever logged.
#![warn(missing_docs)]

mod deliverer;
mod measures;
mod resolver;
mod round;
mod sender;
mod settings;
mod tally;

pub use deliverer::Deliverer;
pub use measures::describe_metrics;
pub use sender::{Outcome, Sender, SenderError, Signed, Unanswered};
pub use settings::{DeliverySettings, DeliverySettingsError};
