//! The versioned surface: its wire form, and its answers over a real database.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the helpers of a test may fail it")]

mod entry;
mod reads;
mod wire_form;
mod wrong_inputs;
