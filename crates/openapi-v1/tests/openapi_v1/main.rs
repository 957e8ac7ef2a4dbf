//! The OpenAPI document is true: for every endpoint, every body and every event.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the helpers of a test may fail it")]

mod document;
mod events;
