//! The command itself, as a person types it.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::indexing_slicing, reason = "a fact that is missing fails the test")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are watched from outside, by the machine's own time"
)]

mod restarts;
mod serving;
mod tour;
