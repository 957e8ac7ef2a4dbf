//! Deliveries over real sockets and a real database.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod delivery;
mod env;
mod hostile;
mod receiver;
mod sending;
mod sharing;
