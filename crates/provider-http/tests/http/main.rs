//! One exchange with a vendor, and the adapter of the tutorial (`ADAPTER.md`), which uses it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod exchange;
mod tutorial;
