//! What each login can do in the database, past all that the programs promise: every right, and every forgery that we could
//! think of, tried by the logins that an installation has.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test prepares may fail loudly"
)]

mod audit;
mod beyond;
mod forging;
mod hijacking;
mod installation;
mod operators;
mod rights;
#[path = "../money/town.rs"]
#[expect(dead_code, reason = "the other tests of the store need more of it")]
mod town;
mod upgrade;
mod worker;
