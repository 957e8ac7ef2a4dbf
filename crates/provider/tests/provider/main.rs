//! The provider interface: the scripted double, and the conformance kit with an adapter that it must see through.
#![expect(clippy::unwrap_used, reason = "helpers of tests; the values are literals")]

mod conformance;
mod scripted;
