//! The adapter against the simulated utility.

mod conformance;
mod env;
mod scenarios;
mod trials;
mod water;
