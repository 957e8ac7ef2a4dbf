//! Receipts as customers get them.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::indexing_slicing, reason = "a missing part fails the test")]

mod formats;
mod hostile;
mod sales;
