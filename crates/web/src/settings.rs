//! What the operator sets for the surfaces.

use chrono_tz::Tz;

/// Plain settings; [`crate::Front::new`] checks them.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebSettings {
    /// The address under which integrators reach this server, without a slash at its end; error answers
    /// link below it.
    pub public_url: String,
    /// The IANA name of the time zone in which dates are written.
    pub time_zone: String,
    /// The largest JSON body, in bytes.
    pub body_bytes_max: usize,
    /// How long head and body of a request may take to arrive, in milliseconds.
    pub body_within_ms: u64,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            public_url: "http://127.0.0.1:8080".to_owned(),
            time_zone: "Africa/Gaborone".to_owned(),
            body_bytes_max: 16 * 1024,
            body_within_ms: 10_000,
        }
    }
}

/// Why the settings of the surfaces cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebSettingsError {
    /// Not in the IANA database.
    #[error("{0:?} is not the IANA name of a time zone")]
    UnknownTimeZone(String),
    /// Not an http or https address.
    #[error("{0:?} is not an http or https address without a slash at its end")]
    BadPublicUrl(String),
}

impl WebSettings {
    pub(crate) fn zone(&self) -> Result<Tz, WebSettingsError> {
        self.time_zone.parse().map_err(|_unknown| WebSettingsError::UnknownTimeZone(self.time_zone.clone()))
    }

    pub(crate) fn checked_url(&self) -> Result<&str, WebSettingsError> {
        let url = self.public_url.as_str();
        let is_web = url.starts_with("http://") || url.starts_with("https://");
        if is_web && !url.ends_with('/') {
            Ok(url)
        } else {
            Err(WebSettingsError::BadPublicUrl(url.to_owned()))
        }
    }
}
