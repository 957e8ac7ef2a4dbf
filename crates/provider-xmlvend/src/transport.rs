//! One HTTP exchange: sent at most once, never redirected, never retried, bounded in time and size.

use std::time::Duration;

use provider::Gate;
use reqwest::{Body, Certificate, Client, Identity, Response, Url, header, redirect, retry};
use rustls::crypto::CryptoProvider;
use secrecy::ExposeSecret;

use crate::body::{Departure, GatedBody};
use crate::envelope;
use crate::gzip;
use crate::request::Message;
use crate::settings::{SettingsError, SoapVersion, XmlVendSettings};
use crate::tree::Malformed;

/// No reply of the protocol comes near it.
const REPLY_BYTES_MAX: usize = 1024 * 1024;
const OPENED_BYTES_MAX: u64 = 1024 * 1024;

/// Shorter than any server keeps an idle connection, so that an order is not written into one that is
/// just being closed: that would end in doubt for nothing.
const IDLE_CONNECTION: Duration = Duration::from_secs(2);

/// Why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoReply {
    #[error("no byte of the message left us")]
    NeverSent,
    #[error("no reply within the deadline")]
    TimedOut,
    #[error("the connection was lost after the message left")]
    ConnectionLost,
    #[error("the reply is too large, or broken")]
    Unreadable,
}

/// The way to the gateway.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    client: Client,
    endpoint: Url,
    soap: SoapVersion,
}

impl Transport {
    pub(crate) fn new(settings: &XmlVendSettings) -> Result<Self, SettingsError> {
        // The client would panic.
        if CryptoProvider::get_default().is_none() {
            return Err(SettingsError::NoTlsProvider);
        }
        let mut builder = Client::builder()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .referer(false)
            .no_gzip()
            .http1_only()
            .tcp_nodelay(true)
            .pool_idle_timeout(IDLE_CONNECTION)
            .connect_timeout(Duration::from_millis(settings.connect_timeout_ms))
            .user_agent("vendgate");
        if let Some(pem) = &settings.client_certificate_pem {
            let identity =
                Identity::from_pem(pem.expose_secret().as_bytes()).map_err(SettingsError::Client)?;
            builder = builder.identity(identity);
        }
        if let Some(pem) = &settings.extra_root_certificate_pem {
            let root = Certificate::from_pem(pem.as_bytes()).map_err(SettingsError::Client)?;
            builder = builder.tls_certs_merge([root]);
        }
        let client = builder.build().map_err(SettingsError::Client)?;
        Ok(Self { client, endpoint: settings.endpoint_url()?, soap: settings.soap })
    }

    /// Sends one message and returns the reply's bytes, decompressed. The HTTP status is not looked at:
    /// a fault arrives as 500, and only the body proves anything.
    pub(crate) async fn exchange(
        &self,
        message: Message,
        gate: &Gate,
        within: Duration,
    ) -> Result<Vec<u8>, NoReply> {
        let departure = Departure::default();
        let bytes = envelope::seal(self.soap, message.content);
        let body = GatedBody::new(bytes, gate.clone(), departure.clone());
        let reply = tokio::time::timeout(within, self.post(message.action, body)).await;
        if departure.withdraw() {
            return Err(NoReply::NeverSent);
        }
        let reply = reply.map_err(|_elapsed| NoReply::TimedOut)??;
        gzip::opened(reply, OPENED_BYTES_MAX).map_err(|_malformed: Malformed| NoReply::Unreadable)
    }

    async fn post(&self, action: &'static str, body: GatedBody) -> Result<Vec<u8>, NoReply> {
        let (content_type, soap_action) = match self.soap {
            SoapVersion::V1_1 => ("text/xml; charset=utf-8".to_owned(), Some(format!("\"{action}\""))),
            SoapVersion::V1_2 => (format!("application/soap+xml; charset=utf-8; action=\"{action}\""), None),
        };
        let mut request = self
            .client
            .post(self.endpoint.clone())
            .header(header::CONTENT_TYPE, content_type)
            .header(header::ACCEPT_ENCODING, "gzip")
            .body(Body::wrap(body));
        if let Some(soap_action) = soap_action {
            request = request.header("SOAPAction", soap_action);
        }
        let response = request.send().await.map_err(|error| failed(&error))?;
        read_bounded(response).await
    }
}

async fn read_bounded(mut response: Response) -> Result<Vec<u8>, NoReply> {
    let mut reply = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        if reply.len().saturating_add(chunk.len()) > REPLY_BYTES_MAX {
            return Err(NoReply::Unreadable);
        }
        reply.extend_from_slice(&chunk);
    }
    Ok(reply)
}

fn failed(error: &reqwest::Error) -> NoReply {
    if error.is_timeout() { NoReply::TimedOut } else { NoReply::ConnectionLost }
}
