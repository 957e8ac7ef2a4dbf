//! The real program at a real database, in the operator's role: what it does, what it prints, what it refuses.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::indexing_slicing, reason = "a field that is not there fails the test")]

mod audit;
mod catalogue;
mod money;
mod office;
mod people;
mod purchases;
mod refusals;
mod shapes;
mod shelf;
