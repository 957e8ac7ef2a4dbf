//! What the tests of the whole house share: the checker, and what attacks the house from outside.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

pub mod checker;
pub mod storm;
pub mod surface;
pub mod transcripts;
