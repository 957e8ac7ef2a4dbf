//! The executable specification of the transactions of a purchase.
//!
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod bench;
mod driver;
pub mod history;
mod memory;
pub mod specification;
mod store;

pub use bench::MemoryBench;
pub use driver::{Confirmed, Driver, Retried, Surroundings};
pub use memory::{Loss, MemoryStore};
pub use store::{
    Caller, FinalAnswer, Found, Key, PurchaseStore, RecordError, Recorded, Reservation, ReserveError,
    ReserveRefusal, Reserved, Unacknowledged, Verdict,
};
