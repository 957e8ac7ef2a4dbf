//! Messages from the outbox to the gateways: their texts, their outcomes, and the traffic with the gateways.

#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

mod delivery;
mod doubles;
mod env;
mod gateways;
mod outbox;
mod texts;
