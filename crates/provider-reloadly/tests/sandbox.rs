//! The adapter against the simulated aggregator.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "sandbox/conformance.rs"]
mod conformance;
#[path = "vendor/connection.rs"]
mod connection;
#[path = "sandbox/env.rs"]
mod env;
#[path = "sandbox/scenarios.rs"]
mod scenarios;
