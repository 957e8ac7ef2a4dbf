//! What leaves this surface, field by field in the order of the specification. Always written qualified:
//! `wire::Purchase` is the JSON, `purchase::Record` the thing.

mod account;
mod actor;
mod filed;
mod product;
mod purchase;
mod recovery;
mod session;

pub use account::Account;
pub use actor::{Actor, Beneficiary, Payer};
pub use filed::{FiledPurchase, PurchasePage};
pub use product::Product;
pub use purchase::Purchase;
pub use recovery::Recovery;
pub use session::{Me, Session};
