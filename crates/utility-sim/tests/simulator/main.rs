//! The simulated utility over real HTTP, asked in XML written by hand.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail where they stand")]

mod counter;
mod key_change;
mod misbehaviour;
mod references;
mod scenarios;
mod vend_log;
mod wire;
