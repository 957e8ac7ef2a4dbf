//! Real servers on a real Postgres. They are killed and stopped at every step of the money path, disconnected from
//! their database at commits, and left without a database. Then the checker verifies the invariants.
//!
//! `VENDGATE_SWEEP=500` sets the number of rounds. `VENDGATE_SEED=…` repeats the choices of an earlier run.

mod at_commits;
mod at_points;
mod batch;
mod batches;
mod buffered;
mod held;
mod plan;
mod recovery;
mod round;
mod sound;
mod told;
