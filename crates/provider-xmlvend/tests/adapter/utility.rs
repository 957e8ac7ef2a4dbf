//! The adapter against the simulated utility.

mod conformance;
mod discretion;
mod env;
mod scenarios;
mod trials;
mod water;
