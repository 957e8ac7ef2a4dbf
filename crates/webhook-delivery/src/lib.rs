//! Sends the events of organisations to their webhook endpoints.
#![warn(missing_docs)]

mod resolver;
mod sender;

pub use sender::{Outcome, Sender, SenderError, Signed, Unanswered};
