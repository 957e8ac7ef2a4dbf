//! The desk over a real database and a scripted provider: what a purchase pays, what it never pays twice,
//! and what is true after everything that can go wrong in between.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test prepares may fail loudly")]

mod closed_keys;
mod doubt;
mod keys;
mod lost_database;
mod memory;
mod rejections;
mod repeats;
mod retries;
mod sales;
mod town;
mod waiting;
