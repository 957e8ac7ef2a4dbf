//! The metrics of this crate. All of them are named here, so that nothing is counted under two names.

use std::time::Duration;

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use purchase::StateName;

use crate::checks::{Invariant, Violation};
use crate::gauges::OpenWork;

const GROUP_SIZE: &str = "vendgate_lane_group_size";
const POOL_WAIT: &str = "vendgate_pool_wait_seconds";
const UNACKNOWLEDGED: &str = "vendgate_unacknowledged_groups_total";
const TURNED_AWAY: &str = "vendgate_turned_away_total";
const OPEN_PURCHASES: &str = "vendgate_open_purchases";
const OPEN_OLDEST: &str = "vendgate_open_oldest_seconds";
const OVERDUE: &str = "vendgate_overdue_seconds";
const OUTBOX_PENDING: &str = "vendgate_outbox_pending";
const OUTBOX_OLDEST: &str = "vendgate_outbox_oldest_seconds";
const INCIDENTS_OPEN: &str = "vendgate_incidents_open";
const BROKEN_INVARIANTS: &str = "vendgate_broken_invariants";

/// The maximum number of violations of one look that are logged. All of them are counted.
const LOGGED_MAX: usize = 20;

/// Describes this crate's metrics to the metrics recorder.
pub fn describe_metrics() {
    describe_histogram!(GROUP_SIZE, "Reserves and records that one transaction of a lane has kept, by kind.");
    describe_histogram!(POOL_WAIT, "How long an operation waited for a connection to the database, by pool.");
    describe_counter!(UNACKNOWLEDGED, "Groups whose commit was not acknowledged. Each is run again.");
    describe_counter!(
        TURNED_AWAY,
        "Reserves that were refused because a lane was full or the database away."
    );
    describe_gauge!(OPEN_PURCHASES, "Purchases that are open, by state.");
    describe_gauge!(OPEN_OLDEST, "Age of the oldest open purchase, by state.");
    describe_gauge!(OVERDUE, "How long the first purchase of all that are due has waited for a worker.");
    describe_gauge!(OUTBOX_PENDING, "Messages that are owed.");
    describe_gauge!(OUTBOX_OLDEST, "Age of the oldest message that is owed.");
    describe_gauge!(
        INCIDENTS_OPEN,
        "Vends that came after the end of their purchase and are not closed yet."
    );
    describe_gauge!(BROKEN_INVARIANTS, "Violations of the invariants of the books, by invariant.");
    counter!(UNACKNOWLEDGED).absolute(0);
    counter!(TURNED_AWAY).absolute(0);
}

/// One transaction of a lane has committed this many jobs.
pub(crate) fn group_committed(reserves: usize, records: usize) {
    for (kind, jobs) in [("reserve", reserves), ("record", records)] {
        if jobs > 0 {
            histogram!(GROUP_SIZE, "kind" => kind).record(u32::try_from(jobs).unwrap_or(u32::MAX));
        }
    }
}

/// It is unknown whether a group was committed.
pub(crate) fn group_unacknowledged() {
    counter!(UNACKNOWLEDGED).increment(1);
}

/// Reserves that were refused, with nothing held.
pub(crate) fn turned_away(reserves: usize) {
    counter!(TURNED_AWAY).increment(u64::try_from(reserves).unwrap_or(u64::MAX));
}

/// The time that an operation waited for a connection, whether or not it got one.
pub(crate) fn waited_for_connection(pool: &'static str, waited: Duration) {
    histogram!(POOL_WAIT, "pool" => pool).record(waited);
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
}

/// Sets the gauges of this process to what [`Store::check_books`](crate::Store::check_books) has found, and logs the
/// violations. A person must look at each of them.
pub fn show_violations(violations: &[Violation]) {
    for invariant in Invariant::ALL {
        let broken = violations.iter().filter(|violation| violation.invariant == invariant).count();
        gauge!(BROKEN_INVARIANTS, "law" => invariant.name()).set(u32::try_from(broken).unwrap_or(u32::MAX));
    }
    for Violation { invariant, subject, finding } in violations.iter().take(LOGGED_MAX) {
        tracing::error!(law = invariant.name(), subject, finding, "a law of the books is broken");
    }
    if violations.len() > LOGGED_MAX {
        tracing::error!(broken = violations.len(), "more laws of the books are broken than are listed here");
    }
}
