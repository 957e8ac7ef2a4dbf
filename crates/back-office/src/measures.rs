//! The metrics of this crate. All of them are named here, so that nothing is counted under two names.

use metrics::{describe_gauge, gauge};
use purchase::StateName;

use crate::{Invariant, OpenWork, Violation};

const OPEN_PURCHASES: &str = "vendgate_open_purchases";
const OPEN_OLDEST: &str = "vendgate_open_oldest_seconds";
const OVERDUE: &str = "vendgate_overdue_seconds";
const OUTBOX_PENDING: &str = "vendgate_outbox_pending";
const OUTBOX_OLDEST: &str = "vendgate_outbox_oldest_seconds";
const INCIDENTS_OPEN: &str = "vendgate_incidents_open";
const DISCREPANCIES_OPEN: &str = "vendgate_discrepancies_open";
const UNRECONCILED: &str = "vendgate_unreconciled_seconds";
const FEED_HELD_BACK: &str = "vendgate_feed_held_back_seconds";
const BROKEN_INVARIANTS: &str = "vendgate_broken_invariants";

/// The maximum number of violations of one look that are logged. All of them are counted.
const LOGGED_MAX: usize = 20;

/// Describes this crate's metrics to the metrics recorder.
pub fn describe_metrics() {
    describe_gauge!(OPEN_PURCHASES, "Purchases that are open, by state.");
    describe_gauge!(OPEN_OLDEST, "Age of the oldest open purchase, by state.");
    describe_gauge!(OVERDUE, "How long the first purchase of all that are due has waited for a worker.");
    describe_gauge!(OUTBOX_PENDING, "Messages that are owed.");
    describe_gauge!(OUTBOX_OLDEST, "Age of the oldest message that is owed.");
    describe_gauge!(
        INCIDENTS_OPEN,
        "Vends that came after the end of their purchase and are not closed yet."
    );
    describe_gauge!(
        DISCREPANCIES_OPEN,
        "Discrepancies with the statements of providers that are not closed yet, by kind."
    );
    describe_gauge!(
        UNRECONCILED,
        "How long ago the last reconciled period ended, of the provider that is furthest behind."
    );
    describe_gauge!(
        FEED_HELD_BACK,
        "How long the oldest event of the feed has been held back by an older open transaction."
    );
    describe_gauge!(BROKEN_INVARIANTS, "Violations of the invariants of the books, by invariant.");
}

/// Sets the gauges of the waiting work.
pub(crate) fn waiting(open: &OpenWork) {
    for state in StateName::ALL.into_iter().filter(|state| state.is_open()) {
        let (backlog, state) = (open.in_state(state), state.as_str().to_lowercase());
        gauge!(OPEN_PURCHASES, "state" => state.clone()).set(backlog.waiting);
        gauge!(OPEN_OLDEST, "state" => state).set(backlog.oldest);
    }
    gauge!(OVERDUE).set(open.overdue);
    gauge!(OUTBOX_PENDING).set(open.outbox.waiting);
    gauge!(OUTBOX_OLDEST).set(open.outbox.oldest);
    gauge!(INCIDENTS_OPEN).set(open.incidents.waiting);
    for (kind, backlog) in open.discrepancies.by_kind() {
        gauge!(DISCREPANCIES_OPEN, "kind" => kind).set(backlog.waiting);
    }
    gauge!(UNRECONCILED).set(open.unreconciled);
    gauge!(FEED_HELD_BACK).set(open.held_back.oldest);
}

/// Sets the gauges of this process to what [`check_books`](crate::check_books) has found, and logs the
/// violations. A person must look at each of them.
pub fn show_violations(violations: &[Violation]) {
    for invariant in Invariant::ALL {
        let broken = violations.iter().filter(|violation| violation.invariant == invariant).count();
        gauge!(BROKEN_INVARIANTS, "invariant" => invariant.name())
            .set(u32::try_from(broken).unwrap_or(u32::MAX));
    }
    for Violation { invariant, subject, finding } in violations.iter().take(LOGGED_MAX) {
        tracing::error!(
            invariant = invariant.name(),
            subject,
            finding,
            "an invariant of the books is violated"
        );
    }
    if violations.len() > LOGGED_MAX {
        tracing::error!(
            broken = violations.len(),
            "more invariants of the books are violated than are listed here"
        );
    }
}
