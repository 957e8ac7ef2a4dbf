//! What leaves this surface. Always written qualified: `wire::Transaction` is the JSON, `purchase::Record` the thing.

mod account;
mod actor;
mod session;
mod transaction;

pub use account::Account;
pub use actor::{Actor, Beneficiary, Payer};
pub use session::{Me, Session};
pub use transaction::Transaction;
