//! The simulator over real HTTP, with hand-written XML and JSON.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the helpers of a test may fail it")]

mod airtime;
mod counter;
mod key_change;
mod memory;
mod messages;
mod misbehaviour;
mod naira;
mod references;
mod scenarios;
mod second_life;
mod vend_log;
mod water;
mod wire;
