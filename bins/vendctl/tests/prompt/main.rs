//! Tests of the real program with a real database, in the operator's role: its effects, its output and its errors.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::indexing_slicing, reason = "a missing field fails the test")]

mod access;
mod approvals;
mod archives;
mod audit;
mod catalogue;
mod days;
mod entering;
mod messages;
mod money;
mod office;
mod open_at_reconciliation;
mod open_purchase;
mod payouts;
mod people;
mod purchases;
mod reconciliations;
mod refusals;
mod search;
mod shapes;
mod tokens;
mod unmatched_vends;
mod webhooks;
