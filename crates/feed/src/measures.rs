//! The metrics of this crate. All of them are named here, so that nothing is counted under two names.

use metrics::{describe_gauge, gauge};

const WAITING: &str = "vendgate_feed_waiting_callers";

/// Describes this crate's metrics to the metrics recorder.
pub fn describe_metrics() {
    describe_gauge!(WAITING, "Callers that wait for an event of the feed.");
    gauge!(WAITING).set(0);
}

/// So many callers wait.
pub(crate) fn waiting(callers: usize) {
    gauge!(WAITING).set(u32::try_from(callers).unwrap_or(u32::MAX));
}
