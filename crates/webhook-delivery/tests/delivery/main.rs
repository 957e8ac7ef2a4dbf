//! Deliveries over real sockets and a real database.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the helpers of a test may fail it")]

mod delivery;
mod env;
mod hostile;
mod receiver;
mod sending;
mod sharing;
