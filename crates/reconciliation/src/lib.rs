//! Reconciliation: a provider's statement of a period is held against the books, both ways. What they do not agree about is a
//! *discrepancy*. A run is kept with what it found, and a person decides about each discrepancy. Nothing here moves money.

mod booked;
mod coverage;
mod decide;
mod judge;
mod list;
mod listed;
mod open;
mod ours;
mod purchase_set;
mod run;
mod shift;
mod unlisted;
mod write;

pub use coverage::{Edges, StatementPeriod};
pub use decide::{DiscrepancyError, close_discrepancies};
pub use judge::Aspect;
pub use list::{
    DiscrepancyRecord, DiscrepancyScope, InTheBooks, InTheStatement, ReconciliationRecord,
    find_reconciliation, list_discrepancies, list_reconciliations,
};
pub use listed::{ListedToken, ListedVend, token_digest};
pub use open::{Listing, OpenLine, StillOpen, find_listing};
pub use run::{ListedLine, Reconciled, Reconciler, StatementPlan, find_time_shift};
pub use shift::TimeShift;
pub use write::{Counts, DiscrepancyKind};
