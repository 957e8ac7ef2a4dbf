//! Tests of the crate's public API on a real database, with the roles of the servers and of the operator.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what a test prepares may fail loudly")]

mod authenticate;
mod login;
mod meanwhile;
mod office;
mod onboarding;
mod refresh;
