//! The adapter: its settings, its exchange with a gateway, and its work with the simulated utility.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

mod alarm;
mod connection;
mod gateway;
mod settings;
mod transport;
mod utility;
