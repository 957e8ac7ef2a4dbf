//! Journeys: real requests to the real server on a real Postgres, with the simulated utility as the provider.
//!
//! All tests share one test environment, and each opens its own merchant there. When the merchant is dropped at the
//! end of its test, the invariants of the whole database are checked: see [`books`].
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::panic, reason = "the helpers of a test may fail it")]
#![expect(clippy::indexing_slicing, reason = "a missing field fails the test")]

mod anonymous;
mod batches;
mod books;
mod both_killed;
mod breaker;
mod broken_heads;
mod caller;
mod certificates;
mod codes;
mod console;
mod console_acts;
mod conversation;
mod crowds;
mod current;
mod database_health;
mod delayed;
mod entry;
mod env;
mod events;
mod exported_traces;
mod fetched_statement;
mod floats;
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
mod look_ups;
mod managed;
mod merchant;
mod messages;
mod messages_again;
mod naira;
mod neighbours;
mod observed;
mod openid;
mod operator;
mod other_products;
mod oversight;
mod paused_provider;
mod practice;
mod python_client;
mod readme;
mod receipts;
mod reconciliation;
mod refreshing;
mod refusals;
mod refused_confirms;
mod request_body;
mod retention;
mod retry;
mod sealed_tokens;
mod simulator;
mod staging_table;
mod statements;
mod stopping;
mod surfaces;
mod texts;
mod wallet_controls;
mod webhooks;
mod wire;
mod wrong_inputs;
