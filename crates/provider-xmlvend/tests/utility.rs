//! The adapter against the simulated utility.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "utility/conformance.rs"]
mod conformance;
#[path = "transport/connection.rs"]
mod connection;
#[path = "utility/env.rs"]
mod env;
#[path = "utility/scenarios.rs"]
mod scenarios;
#[path = "utility/trials.rs"]
mod trials;
#[path = "utility/water.rs"]
mod water;
