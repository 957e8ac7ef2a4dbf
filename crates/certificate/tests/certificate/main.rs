//! The crate as its users see it.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

mod canonical;
mod issued;
