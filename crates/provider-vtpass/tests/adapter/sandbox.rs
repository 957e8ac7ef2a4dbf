//! The adapter against the simulated aggregator.

mod conformance;
mod discretion;
mod env;
mod scenarios;
