//! The adapter: its settings, its exchange with a stub of the vendor, and its work with the simulated aggregator. What it logs is
//! tested in a program of its own: `discretion.rs` says why.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod connection;
mod counter;
mod exchange;
mod sandbox;
mod settings;
