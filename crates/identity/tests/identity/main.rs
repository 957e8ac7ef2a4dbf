//! Identity on a real database, seen from outside, through the roles that the servers and the operator have.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what a test prepares may fail loudly")]

mod authenticate;
mod login;
mod meanwhile;
mod office;
mod onboarding;
mod refresh;
