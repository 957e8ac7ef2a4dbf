//! What the acceptance tests share: the checker, the fault injection and the descriptions of both surfaces.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

pub mod checker;
pub mod fault_injection;
pub mod surface;
pub mod tills;
pub mod time;
pub mod transcripts;
pub mod webhook_till;
