//! Metrics: what the rooms count and measure, kept in this process and written down for Prometheus.
//!
//! The rooms speak to the `metrics` facade alone; how long a histogram's bars are is decided here, by the
//! end of its name, so that no room needs to know who listens.

use metrics::SetRecorderError;
use metrics_exporter_prometheus::{
    BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};
use thiserror::Error;

use crate::panics;

/// From a connection that was free at once to the slowest provider, in seconds.
const SECONDS: &[f64] = &[
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
    10.0, 20.0, 40.0, 60.0, 90.0, 120.0,
];

/// Of groups of work: how many.
const SIZES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// What this process has counted since it began. Clones are handles on the same.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

/// Why nothing can be counted.
#[derive(Debug, Error)]
pub enum MetricsError {
    /// A histogram cannot be laid out as it should be.
    #[error("the histograms cannot be laid out")]
    Layout(#[source] BuildError),
    /// This process counts already.
    #[error("the metrics were started before")]
    StartedBefore(#[source] Box<SetRecorderError<PrometheusRecorder>>),
}

/// Keeps whatever is counted in this process from now on, its panics too: once, before anything that has something to
/// count. `describe` says what that means.
pub fn start(describe: impl FnOnce()) -> Result<Metrics, MetricsError> {
    let recorder = recorder()?;
    let metrics = Metrics(recorder.handle());
    metrics::set_global_recorder(recorder).map_err(|error| MetricsError::StartedBefore(Box::new(error)))?;
    describe();
    panics::report();
    Ok(metrics)
}

impl Metrics {
    /// Everything, in the text format of Prometheus.
    pub fn in_text(&self) -> String {
        self.0.render()
    }

    /// Sorts what was measured since the last time into its bars. To be called every few seconds: what nobody
    /// sorts piles up.
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
    let bars = |name: &str| Matcher::Suffix(name.to_owned());
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(bars("_seconds"), SECONDS)
        .and_then(|builder| builder.set_buckets_for_metric(bars("_size"), SIZES))
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
