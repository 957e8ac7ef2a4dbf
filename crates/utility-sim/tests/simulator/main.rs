//! The simulated world over real HTTP, asked in XML and JSON written by hand.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail where they stand"
)]

mod airtime;
mod counter;
mod key_change;
mod memory;
mod messages;
mod misbehaviour;
mod references;
mod scenarios;
mod second_life;
mod vend_log;
mod water;
mod wire;
