//! The requests to the vendor. Each is a POST with the keys of the account in its head.

use std::time::Duration;

use provider::Gate;
use provider_http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use provider_http::{HttpReply, NoReply, Outgoing, Transport, TransportSettings, Url, below};

use crate::settings::{SettingsError, VtpassSettings};

const API_KEY: HeaderName = HeaderName::from_static("api-key");
const SECRET_KEY: HeaderName = HeaderName::from_static("secret-key");

/// The operations of the vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Verify,
    Pay,
    Requery,
}

impl Operation {
    const fn name(self) -> &'static str {
        match self {
            Self::Verify => "merchant-verify",
            Self::Pay => "pay",
            Self::Requery => "requery",
        }
    }
}

/// A client with connections of its own.
#[derive(Debug)]
pub(crate) struct Gateway {
    transport: Transport,
    base: Url,
}

impl Gateway {
    pub(crate) fn new(settings: &VtpassSettings) -> Result<Self, SettingsError> {
        let headers = headers(settings)?;
        let base = settings.base_url()?;
        let transport = Transport::new(TransportSettings {
            over_tls: base.scheme() == "https",
            extra_root_certificate_pem: settings.extra_root_certificate_pem.as_deref(),
            headers: Some(&headers),
            ..TransportSettings::connecting_within(Duration::from_millis(settings.connect_timeout_ms))
        });
        Ok(Self { transport: transport.map_err(SettingsError::Client)?, base })
    }

    /// Sends a message once.
    pub(crate) async fn post(
        &self,
        operation: Operation,
        body: Vec<u8>,
        gate: &Gate,
        within: Duration,
    ) -> Result<HttpReply, NoReply> {
        let url = below(&self.base, [operation.name()]);
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        self.transport.post(Outgoing { url, headers, body }, gate, within).await
    }
}

fn headers(settings: &VtpassSettings) -> Result<HeaderMap, SettingsError> {
    let [api_key, secret_key] = settings.keys()?;
    let secret = |key: &str, setting| {
        let mut value = HeaderValue::from_str(key).map_err(|_not_sendable| SettingsError::BadKey(setting))?;
        value.set_sensitive(true);
        Ok(value)
    };
    Ok(HeaderMap::from_iter([
        (API_KEY, secret(api_key, "api_key")?),
        (SECRET_KEY, secret(secret_key, "secret_key")?),
    ]))
}
