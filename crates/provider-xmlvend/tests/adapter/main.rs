//! The adapter: its settings, its exchange with a gateway, and its work with the simulated utility. What it logs is tested in
//! programs of their own: `alarm.rs` says why.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

mod connection;
mod gateway;
mod settings;
mod transport;
mod utility;
