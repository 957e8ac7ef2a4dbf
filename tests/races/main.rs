//! Everybody at once: confirms, retries and workers from one barrier, and servers that are told to stop in mid-vend.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

mod crowd;
mod stopping;
#[path = "../storm_town.rs"]
mod town;
