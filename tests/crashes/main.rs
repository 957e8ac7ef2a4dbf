//! Real servers on a real Postgres. They are killed and stopped at every step of the money path, disconnected from
//! their database at commits, and left without a database. Then the checker verifies the invariants.
//!
//! `VENDGATE_SWEEP=500` sets the number of rounds. `VENDGATE_SEED=…` repeats the choices of an earlier run.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::print_stdout, reason = "the output of a sweep is for its reader")]

mod batch;
mod database;
#[path = "../fault_env.rs"]
mod env;
mod held;
mod plan;
mod recovery;
mod round;
mod sound;
mod sweep;
mod unread;
