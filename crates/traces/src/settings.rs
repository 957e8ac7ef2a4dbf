//! The settings of traces.

use serde::Deserialize;
use url::Url;

/// Spans are sent in OpenTelemetry's protocol: OTLP in JSON over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceSettings {
    /// The whole address that takes spans, such as `http://127.0.0.1:4318/v1/traces`. Nothing is traced without it.
    pub endpoint: Option<Url>,
    /// One purchase of this many is traced, with all its spans. The same number in every program keeps the same purchases.
    pub one_in: u64,
}

/// The endpoint cannot be sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("endpoint is no http or https address such as http://127.0.0.1:4318/v1/traces")]
pub struct BadTraceSettings;

impl Default for TraceSettings {
    fn default() -> Self {
        Self { endpoint: None, one_in: 1 }
    }
}

impl TraceSettings {
    /// Checks the settings at start-up.
    ///
    /// # Errors
    /// When the endpoint has another scheme.
    pub fn checked(&self) -> Result<(), BadTraceSettings> {
        let is_known = |url: &Url| matches!(url.scheme(), "http" | "https");
        if self.endpoint.as_ref().is_none_or(is_known) { Ok(()) } else { Err(BadTraceSettings) }
    }

    /// The names of the settings that are zero and must not be.
    pub fn zeros(&self) -> impl Iterator<Item = &'static str> {
        (self.one_in == 0).then_some("one_in").into_iter()
    }
}
