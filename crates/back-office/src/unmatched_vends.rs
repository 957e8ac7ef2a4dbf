//! After a restore to a moment, the providers have vends that the database does not have. A vend in a statement without an attempt is an *unmatched vend*: it is owed to its provider out of suspense, and an
//! operator charges it to a wallet, waives it, or withdraws it because it never was.

mod decide;
mod enter;
mod list;
mod standing;

pub(crate) use decide::undecided_sum;
pub use decide::{UnmatchedVendError, VendDecision, decide_unmatched_vends, rehearse_unmatched_vends};
pub use enter::{EnteredVends, enter_unmatched_vends};
pub use list::{UnmatchedVendRecord, list_unmatched_vends};
pub use standing::{Standing, find_standings};
