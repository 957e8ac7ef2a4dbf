//! What both surfaces share, as their callers see it.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests, outside of their functions"
)]

mod answers;
mod limits;
mod outcomes;
mod real_socket;
mod surfaces;
