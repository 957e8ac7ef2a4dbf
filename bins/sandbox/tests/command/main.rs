//! The command `cargo sandbox` as a user runs it, and its supervision of the parts.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::indexing_slicing, reason = "a missing field fails the test")]
#![expect(clippy::disallowed_methods, reason = "processes are observed from outside, in real time")]

mod console;
mod hard_times;
mod restarts;
mod serving;
mod surprise;
mod tour;
