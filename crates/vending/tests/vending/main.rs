//! The vending service over a real database and a scripted provider: what a purchase is charged, what is
//! never charged twice, and what is true after everything that can fail in between.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test prepares may fail loudly")]

mod batches;
mod breakers;
mod closed_keys;
mod combinations;
mod default_provider;
mod defects;
mod doubt;
mod env;
mod floats;
mod keys;
mod lost_database;
mod managed;
mod memory;
mod pauses;
mod refused_confirms;
mod rejections;
mod repeats;
mod retries;
mod sales;
mod side_by_side;
mod traces;
mod trials;
mod waiting;
mod worker;
