//! The adapter: its settings, and its work with the simulated aggregator.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod connection;
mod sandbox;
mod settings;
