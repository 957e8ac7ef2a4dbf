//! Metrics: what the crates count and measure, stored in this process and printed for Prometheus.
//!
//! The crates use only the `metrics` facade. This module chooses the buckets of a histogram by the suffix of its name,
//! so the crates do not depend on the exporter.

use metrics::SetRecorderError;
use metrics_exporter_prometheus::{
    BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};
use thiserror::Error;

use crate::panics;

/// Bucket bounds in seconds, from the wait for a free connection to the slowest provider.
const SECONDS: &[f64] = &[
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
    10.0, 20.0, 40.0, 60.0, 90.0, 120.0,
];

/// Bucket bounds for batch sizes.
const SIZES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// What this process has counted since it started. Clones share the same counters.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

/// Why the metrics cannot be started.
#[derive(Debug, Error)]
pub enum MetricsError {
    /// The bucket bounds are not valid.
    #[error("the buckets of the histograms are not valid")]
    Layout(#[source] BuildError),
    /// The metrics of this process were started already.
    #[error("the metrics were already started")]
    StartedBefore(#[source] Box<SetRecorderError<PrometheusRecorder>>),
}

/// Records everything that this process counts from now on, including its panics. Call it once, before any code that
/// counts. `describe` registers the descriptions of the metrics.
pub fn start(describe: impl FnOnce()) -> Result<Metrics, MetricsError> {
    let recorder = recorder()?;
    let metrics = Metrics(recorder.handle());
    metrics::set_global_recorder(recorder).map_err(|error| MetricsError::StartedBefore(Box::new(error)))?;
    describe();
    panics::report();
    Ok(metrics)
}

impl Metrics {
    /// All metrics, in the text format of Prometheus.
    pub fn in_text(&self) -> String {
        self.0.render()
    }

    /// Sorts the recorded samples into their buckets. Call it every few seconds: unsorted samples accumulate.
    pub(crate) fn sort(&self) {
        self.0.run_upkeep();
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Metrics")
    }
}

fn recorder() -> Result<PrometheusRecorder, MetricsError> {
    let named = |name: &str| Matcher::Suffix(name.to_owned());
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(named("_seconds"), SECONDS)
        .and_then(|builder| builder.set_buckets_for_metric(named("_size"), SIZES))
        .map_err(MetricsError::Layout)?;
    Ok(builder.build_recorder())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_short_wait_and_a_long_vend_fall_into_bars_of_their_own() {
        let recorder = recorder().unwrap();
        metrics::with_local_recorder(&recorder, || {
            metrics::histogram!("wait_seconds").record(Duration::from_micros(200));
            metrics::histogram!("vend_seconds").record(Duration::from_secs(95));
            metrics::histogram!("group_size").record(3);
        });
        let text = recorder.handle().render();
        for line in [
            "wait_seconds_bucket{le=\"0.0001\"} 0",
            "wait_seconds_bucket{le=\"0.00025\"} 1",
            "vend_seconds_bucket{le=\"90\"} 0",
            "vend_seconds_bucket{le=\"120\"} 1",
            "group_size_bucket{le=\"2\"} 0",
            "group_size_bucket{le=\"4\"} 1",
        ] {
            assert!(text.lines().any(|printed| printed == line), "{line} is not in\n{text}");
        }
    }
}
