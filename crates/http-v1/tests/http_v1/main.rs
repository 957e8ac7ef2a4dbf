//! The versioned surface: its wire form, its document, and its answers over a real database.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the helpers of a test may fail it")]

mod entry;
mod openapi;
mod openapi_events;
mod reads;
mod wire_form;
mod wrong_inputs;
