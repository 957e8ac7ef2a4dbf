//! The answers of this surface. These types are always written qualified: `wire::Transaction` is the JSON,
//! `purchase::Record` is the domain object.

mod account;
mod actor;
mod session;
mod transaction;

pub use account::Account;
pub use actor::{Actor, Beneficiary, Payer};
pub use session::{Me, Session};
pub use transaction::Transaction;
