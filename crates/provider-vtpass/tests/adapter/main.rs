//! The adapter: its settings, and its work with the simulated aggregator. What it logs is tested in a program of its own:
//! `discretion.rs` says why.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod connection;
mod sandbox;
mod settings;
