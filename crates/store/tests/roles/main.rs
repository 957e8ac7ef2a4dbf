//! What each login can do in the database past the programs: every right, and every forgery that we could
//! think of, tried with the logins of an installation.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test prepares may fail loudly"
)]

mod approvals;
mod archives;
mod audit;
mod beyond;
#[path = "../money/env.rs"]
#[expect(dead_code, reason = "the other tests of the store need more of it")]
mod env;
mod forging;
mod hijacking;
mod installation;
mod operators;
mod retention;
mod rights;
mod tokens;
mod upgrade;
mod worker;
