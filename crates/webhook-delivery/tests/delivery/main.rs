//! Deliveries over real sockets and a real database.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod delivery;
mod env;
mod hostile;
mod receiver;
mod sending;
mod sharing;
