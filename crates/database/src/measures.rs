//! The metrics of this crate.

use std::time::Duration;

use metrics::{describe_histogram, histogram};
use tokio::time::Instant;

const POOL_WAIT: &str = "vendgate_pool_wait_seconds";

/// Describes this crate's metrics to the metrics recorder.
pub fn describe_metrics() {
    describe_histogram!(POOL_WAIT, "How long an operation waited for a connection to the database, by pool.");
}

/// The time that an operation waited for a connection, whether or not it got one.
pub(crate) fn waited_for_connection(pool: &'static str, waited: Duration) {
    histogram!(POOL_WAIT, "pool" => pool).record(waited);
}

#[expect(
    clippy::disallowed_methods,
    reason = "measures times inside this crate, and affects no business rule"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
