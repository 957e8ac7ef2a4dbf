//! The settings: what a mistake is told, and what the package installs.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

mod mistaken;
mod packaged;
