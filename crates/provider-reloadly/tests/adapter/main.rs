//! The adapter: its settings, its exchange with a stub of the vendor, and its work with the simulated aggregator.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod connection;
mod counter;
mod exchange;
mod sandbox;
mod settings;
