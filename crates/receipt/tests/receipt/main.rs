//! Receipts as customers get them.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::indexing_slicing, reason = "a missing part fails the test")]
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method alone accepts receipts of one lifetime only"
)]

mod formats;
mod hostile;
mod sales;
