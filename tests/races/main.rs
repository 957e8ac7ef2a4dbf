//! Concurrency: confirms, retries and workers that start from one barrier, and servers that are shut down during a
//! vend.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

mod clocks;
mod crowd;
#[path = "../fault_env.rs"]
mod env;
mod slots;
mod stopping;
