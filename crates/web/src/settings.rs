//! The operator's settings of the surfaces.

use chrono_tz::Tz;
use serde::{Deserialize, Deserializer};

use crate::{LimitSettings, limits::Limits};

/// The settings of both HTTP surfaces.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebSettings {
    /// The address under which integrators reach this server, without a slash at its end. Error answers link to pages
    /// below it.
    pub public_url: String,
    /// The IANA name of the time zone in which dates are written.
    pub time_zone: String,
    /// The maximum size of address and header fields together, in bytes.
    pub head_bytes_max: usize,
    /// The maximum size of a JSON body, in bytes.
    pub body_bytes_max: usize,
    /// How long the head and the body of a request may take to arrive, in milliseconds. A head alone must arrive
    /// within `http.head_within_ms`.
    pub body_within_ms: u64,
    /// The proxies in front of this server, as addresses or networks (`10.0.0.0/8`). Only their `X-Forwarded-For` is
    /// believed. If a proxy is not named here, all its clients share the limits of one address. In the environment,
    /// which has no lists, this is a text with commas.
    #[serde(deserialize_with = "list_or_text")]
    pub trusted_proxies: Vec<String>,
    /// A limit of this server process.
    pub limits: LimitSettings,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            public_url: "http://127.0.0.1:8080".to_owned(),
            time_zone: "Africa/Gaborone".to_owned(),
            head_bytes_max: 16 * 1024,
            body_bytes_max: 16 * 1024,
            body_within_ms: 10_000,
            trusted_proxies: Vec::new(),
            limits: LimitSettings::default(),
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
    /// Neither an address nor a network.
    #[error("the trusted proxy {0:?} is neither an address nor a network such as 10.0.0.0/8")]
    BadProxy(String),
}

impl WebSettings {
    /// Checks the settings at start-up.
    ///
    /// # Errors
    /// The first setting that cannot be used.
    pub fn checked(&self) -> Result<(), WebSettingsError> {
        self.zone()?;
        self.checked_url()?;
        Limits::new(&self.limits, &self.trusted_proxies).map(drop)
    }

    /// The names of the settings that are zero and must not be.
    pub fn zeros(&self) -> impl Iterator<Item = &'static str> {
        let lengths = [
            ("head_bytes_max", self.head_bytes_max == 0),
            ("body_bytes_max", self.body_bytes_max == 0),
            ("body_within_ms", self.body_within_ms == 0),
            ("limits.guess_forgotten_after_s", self.limits.guess_forgotten_after_s == 0),
            ("limits.remembered_max", self.limits.remembered_max == 0),
        ];
        lengths.into_iter().filter_map(|(name, is_zero)| is_zero.then_some(name))
    }

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

fn list_or_text<'de, D: Deserializer<'de>>(settings: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum ListOrText {
        List(Vec<String>),
        Text(String),
    }
    Ok(match ListOrText::deserialize(settings)? {
        ListOrText::List(list) => list,
        ListOrText::Text(text) => text.split(',').map(|part| part.trim().to_owned()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn proxies_are_given_as_a_list_or_as_a_text() {
        let proxies = |given| {
            let settings: WebSettings = serde_json::from_value(json!({ "trusted_proxies": given })).unwrap();
            settings.trusted_proxies
        };
        let expected = ["10.0.0.0/8", "fd00::1"];
        assert_eq!(proxies(json!(expected)), expected);
        assert_eq!(proxies(json!("10.0.0.0/8, fd00::1")), expected);
    }
}
