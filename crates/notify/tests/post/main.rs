//! Messages from the outbox to whoever takes them: what they say, what becomes of them, and what gateways see and do.

#![expect(clippy::unwrap_used, reason = "what a test prepares may fail loudly")]

mod delivery;
mod doubles;
mod gateways;
mod outbox;
mod texts;
mod town;
