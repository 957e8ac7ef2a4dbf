//! Whole journeys: real requests to the real server over a real Postgres, with the simulated utility behind it.
//!
//! All tests share one town, and each opens a shop of its own in it. A shop that closes, at the end of its test,
//! has the books of the whole town checked: see [`books`].
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::panic, reason = "the helpers of a test may fail it")]
#![expect(clippy::indexing_slicing, reason = "a field that is not there fails the test")]

mod anonymous;
mod books;
mod broken_heads;
mod caller;
mod codes;
mod conversation;
mod crowds;
mod current;
mod delayed;
mod doors;
mod full_queues;
mod guide;
mod hang_ups;
mod idempotency;
mod install;
mod installed;
mod key_change;
mod languages;
mod limits;
mod login_timing;
mod managed;
mod messages;
mod neighbours;
mod observed;
mod operator;
mod order;
mod other_products;
mod oversight;
mod pulled_plug;
mod python_client;
mod readme;
mod refreshing;
mod refusals;
mod refused_confirms;
mod retry;
mod sealed_tokens;
mod shop;
mod staging_table;
mod stopping;
mod street;
mod surfaces;
mod texts;
mod town;
mod wire;
mod wrong_inputs;
