//! The adapter against the simulated aggregator.

mod conformance;
mod env;
mod scenarios;
mod statement;
