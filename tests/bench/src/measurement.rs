//! Counts and latencies of one measurement.

use std::time::Duration;

use clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use crate::Failure;

/// What the callers achieved in a while.
#[derive(Debug)]
pub struct Measurement {
    /// The length of the measurement.
    elapsed: Duration,
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

    /// What each operation took of a time that all of them took together, in microseconds.
    pub fn share_of(&self, time: Duration) -> u128 {
        let count = u128::try_from(self.count()).unwrap_or_default();
        time.as_micros().checked_div(count).unwrap_or_default()
    }
}

/// Lets all callers work at the same time, each in a task of its own, until the last one has returned. Each returns
/// itself and the latencies of its operations.
pub async fn together<C, W>(callers: Vec<C>, work: impl Fn(C) -> W) -> Result<(Vec<C>, Measurement), Failure>
where
    C: Send + 'static,
    W: Future<Output = Result<(C, Vec<Duration>), Failure>> + Send + 'static,
{
    let began = SystemClock.monotonic();
    let mut tasks = JoinSet::new();
    for caller in callers {
        tasks.spawn(work(caller));
    }
    let (mut callers, mut latencies) = (Vec::new(), Vec::new());
    while let Some(finished) = tasks.join_next().await {
        let (caller, took) = finished??;
        callers.push(caller);
        latencies.extend(took);
    }
    Ok((callers, Measurement::new(SystemClock.monotonic().elapsed_since(began), latencies)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_latency_that_so_many_operations_did_not_exceed() {
        let milliseconds = (1..=200).rev().map(Duration::from_millis).collect();
        let measured = Measurement::new(Duration::from_secs(2), milliseconds);
        let percentiles = [0, 1, 50, 99, 100].map(|percent| measured.percentile(percent).as_millis());
        assert_eq!(percentiles, [1, 2, 100, 198, 200]);
        assert_eq!((measured.rate(), measured.share_of(Duration::from_secs(1))), (100, 5_000));
    }

    #[test]
    fn without_operations_everything_is_zero() {
        let nothing = Measurement::new(Duration::ZERO, Vec::new());
        assert_eq!((nothing.rate(), nothing.percentile(99)), (0, Duration::ZERO));
        assert_eq!(nothing.share_of(Duration::from_secs(1)), 0);
    }

    #[tokio::test]
    async fn all_callers_return_with_all_their_latencies() {
        let work =
            |caller: u64| async move { Ok::<_, Failure>((caller, vec![Duration::from_millis(caller); 2])) };
        let (mut callers, measured) = together(vec![1, 2, 3], work).await.unwrap();
        callers.sort_unstable();
        assert_eq!((callers, measured.count()), (vec![1, 2, 3], 6));
        assert_eq!(measured.percentile(100), Duration::from_millis(3));
    }
}
