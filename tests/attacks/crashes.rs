//! Real servers on a real Postgres. They are killed and stopped at every step of the money path, disconnected from
//! their database at commits, and left without a database. Then the checker verifies the invariants.
//!
//! `VENDGATE_SWEEP=500` sets the number of rounds. `VENDGATE_SEED=…` repeats the choices of an earlier run.

mod batch;
mod batches;
mod database;
mod held;
mod plan;
mod recovery;
mod round;
mod sound;
mod sweep;
mod told;
mod unread;
