//! Counts and latencies of one measurement.

use std::time::Duration;

/// What the callers achieved in a while.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The length of the measurement.
    pub elapsed: Duration,
    /// The latency of each operation, ascending.
    latencies: Vec<Duration>,
}

impl Measurement {
    pub fn new(elapsed: Duration, mut latencies: Vec<Duration>) -> Self {
        latencies.sort_unstable();
        Self { elapsed, latencies }
    }

    pub fn count(&self) -> usize {
        self.latencies.len()
    }

    /// Operations per second, rounded down.
    pub fn rate(&self) -> u128 {
        let count = u128::try_from(self.count()).unwrap_or_default();
        count.saturating_mul(1_000_000).checked_div(self.elapsed.as_micros()).unwrap_or_default()
    }

    /// The latency that this percentage of the operations did not exceed.
    pub fn percentile(&self, percent: usize) -> Duration {
        let rank = self.count().saturating_mul(percent).div_ceil(100).saturating_sub(1);
        self.latencies.get(rank).copied().unwrap_or_default()
    }
}
