//! The log: structured events on standard error, as text for people or JSON for machines.

mod flat;

use std::io;

use serde::Deserialize;
use thiserror::Error;
use tracing_subscriber::{EnvFilter, filter::ParseError, fmt::format::JsonFields, util::TryInitError};

use flat::Flat;

/// What is logged, and how.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// Text lines, or JSON objects.
    pub format: LogFormat,
    /// Levels, optionally per crate, such as `info,store=debug`.
    pub filter: String,
}

/// How an event is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// One line of text.
    Text,
    /// One JSON object on a line, with the fields of all spans around it.
    Json,
}

/// Why the log cannot be started.
#[derive(Debug, Error)]
pub enum TelemetryError {
    /// The filter is not valid.
    #[error("telemetry.filter is not a list of levels such as info,store=debug")]
    Filter(#[source] ParseError),
    /// The log of this process was started already.
    #[error("the log was already started")]
    StartedBefore(#[source] TryInitError),
}

impl Default for TelemetrySettings {
    fn default() -> Self {
        Self { format: LogFormat::Text, filter: "info".to_owned() }
    }
}

impl TelemetrySettings {
    /// Checks the settings at start-up.
    ///
    /// # Errors
    /// When the filter is not valid.
    pub fn checked(&self) -> Result<(), TelemetryError> {
        EnvFilter::try_new(&self.filter).map(drop).map_err(TelemetryError::Filter)
    }
}

/// Starts the log of this process. Call it once, before any code that logs.
pub fn start(settings: &TelemetrySettings) -> Result<(), TelemetryError> {
    use tracing_subscriber::util::SubscriberInitExt as _;

    let filter = EnvFilter::try_new(&settings.filter).map_err(TelemetryError::Filter)?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    let started = match settings.format {
        LogFormat::Text => log.finish().try_init(),
        LogFormat::Json => log.fmt_fields(JsonFields::new()).event_format(Flat).finish().try_init(),
    };
    started.map_err(TelemetryError::StartedBefore)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_means_nothing_is_refused_before_anything_is_logged() {
        let settings = TelemetrySettings { filter: "store=loud".to_owned(), ..TelemetrySettings::default() };
        assert!(matches!(start(&settings), Err(TelemetryError::Filter(_))));
    }

    #[test]
    fn a_process_has_one_log() {
        for format in [LogFormat::Json, LogFormat::Text] {
            let settings = TelemetrySettings { format, ..TelemetrySettings::default() };
            let outcome = start(&settings);
            assert_eq!(outcome.is_ok(), format == LogFormat::Json, "{outcome:?}");
        }
    }
}
