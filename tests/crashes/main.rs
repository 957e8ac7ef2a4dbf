//! Real servers over a real Postgres, killed and stopped at every step of the money path, cut off from their database at
//! commits, and left without one: then the checker reads everything back.
//!
//! `VENDGATE_SWEEP=500` makes a sweep as long as that, `VENDGATE_SEED=…` makes the choices of an earlier one.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::print_stdout, reason = "a person reads what a sweep has done")]

mod batch;
mod database;
mod held;
mod lawful;
mod plan;
mod recovery;
mod round;
mod sweep;
#[path = "../storm_town.rs"]
mod town;
mod unread;
