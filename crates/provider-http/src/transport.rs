//! The HTTP client and one exchange.

use std::mem;
use std::time::Duration;

use provider::Gate;
use reqwest::header::HeaderMap;
use reqwest::{Body, Certificate, Client, Identity, RequestBuilder, Response, Url, redirect, retry};
use rustls::crypto::CryptoProvider;
use secrecy::{ExposeSecret, SecretString};

use crate::NoReply;
use crate::body::{Departure, GatedBody};

/// How long an idle connection is kept. This is shorter than any server's limit, so that no order is written to a
/// connection that the server is just closing. That would cause unnecessary doubt.
const IDLE_CONNECTION: Duration = Duration::from_secs(2);

/// The settings of a client.
#[derive(Clone, Copy, Debug)]
pub struct TransportSettings<'a> {
    /// The maximum time to open a connection.
    pub connect_within: Duration,
    /// Whether the vendor is reached over TLS. If not, the certificate authorities of the machine are not read, which saves
    /// time and memory, and a message to an `https` address fails before it is sent.
    pub over_tls: bool,
    /// Client certificate and key, both as PEM in one text, if the vendor requires them.
    pub client_certificate_pem: Option<&'a SecretString>,
    /// Certificate authorities as PEM. They are trusted in addition to those of the machine.
    pub extra_root_certificate_pem: Option<&'a str>,
    /// The name of this client in `User-Agent`.
    pub user_agent: &'a str,
    /// The maximum size of a reply. A larger one is [`NoReply::Unreadable`].
    pub reply_bytes_max: usize,
    /// Headers of every message, such as an API key. A header of the message itself replaces one of the same name. The
    /// caller must mark credentials as sensitive.
    pub headers: Option<&'a HeaderMap>,
}

impl TransportSettings<'_> {
    /// The settings for a vendor that requires nothing: `vendgate` as the name, replies up to 1 MiB, TLS with the
    /// certificate authorities of the machine.
    pub const fn connecting_within(connect_within: Duration) -> Self {
        Self {
            connect_within,
            over_tls: true,
            client_certificate_pem: None,
            extra_root_certificate_pem: None,
            user_agent: "vendgate",
            reply_bytes_max: 1024 * 1024,
            headers: None,
        }
    }
}

/// Why the client cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The text of the root certificates contains no certificate.
    #[error("the extra root certificate is no PEM certificate")]
    NoRootCertificate,
    /// The certificates cannot be read, or the client cannot be built for another reason.
    #[error("the HTTP client cannot be built")]
    Client(#[source] reqwest::Error),
}

/// The HTTP client for one vendor. A connection ends with the runtime that opened it. So orders and questions that are
/// sent from different runtimes need separate transports.
#[derive(Clone, Debug)]
pub struct Transport {
    client: Client,
    reply_bytes_max: usize,
}

/// A message with a body. The gate can stop it.
#[derive(Debug)]
pub struct Outgoing {
    /// The address to post to.
    pub url: Url,
    /// The headers. The caller must mark credentials as sensitive.
    pub headers: HeaderMap,
    /// The message. An empty message is not sent: the client never asks for an empty body, so the departure cannot be
    /// recorded.
    pub body: Vec<u8>,
}

/// The reply of the vendor.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// The HTTP status.
    pub status: u16,
    /// The headers. They may contain credentials, so `Debug` does not show them.
    pub headers: HeaderMap,
    /// The unchanged body. It may contain tokens, so `Debug` shows only its length.
    pub body: Vec<u8>,
}

impl Transport {
    /// Builds the client. It does not connect yet. If the process has no TLS provider, that of *ring* is installed.
    ///
    /// # Errors
    /// [`TransportError`] if a certificate cannot be read.
    pub fn new(settings: TransportSettings<'_>) -> Result<Self, TransportError> {
        // Without a provider the client would panic.
        if CryptoProvider::get_default().is_none() {
            // It fails if another thread has just installed one, which is as good.
            let _installed_meanwhile = rustls::crypto::ring::default_provider().install_default();
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
            .connect_timeout(settings.connect_within)
            .user_agent(settings.user_agent);
        if let Some(headers) = settings.headers {
            builder = builder.default_headers(headers.clone());
        }
        if let Some(pem) = settings.client_certificate_pem {
            let identity =
                Identity::from_pem(pem.expose_secret().as_bytes()).map_err(TransportError::Client)?;
            builder = builder.identity(identity);
        }
        if let Some(pem) = settings.extra_root_certificate_pem {
            let roots = Certificate::from_pem_bundle(pem.as_bytes()).map_err(TransportError::Client)?;
            if roots.is_empty() {
                return Err(TransportError::NoRootCertificate);
            }
            builder = builder.tls_certs_merge(roots);
        }
        if !settings.over_tls {
            builder = builder.tls_certs_only([]);
        }
        let reply_bytes_max = settings.reply_bytes_max;
        builder.build().map(|client| Self { client, reply_bytes_max }).map_err(TransportError::Client)
    }

    /// Posts one message and returns the reply with any status. The gate is checked after the connection is open,
    /// immediately before the first byte of the body is sent. A closed gate gives [`NoReply::NeverSent`].
    pub async fn post(
        &self,
        outgoing: Outgoing,
        gate: &Gate,
        within: Duration,
    ) -> Result<HttpReply, NoReply> {
        if outgoing.body.is_empty() {
            return Err(NoReply::NeverSent);
        }
        let departure = Departure::default();
        let body = GatedBody::new(outgoing.body, gate.clone(), departure.clone());
        let request = self.client.post(outgoing.url).headers(outgoing.headers).body(Body::wrap(body));
        let reply = tokio::time::timeout(within, self.exchange(request)).await;
        if departure.withdraw() {
            return Err(NoReply::NeverSent);
        }
        reply.map_err(|_elapsed| NoReply::TimedOut)?.map_err(NoReply::after_departure)
    }

    /// Sends a GET request and returns the reply with any status.
    pub async fn get(&self, url: Url, headers: HeaderMap, within: Duration) -> Result<HttpReply, NoReply> {
        let request = self.client.get(url).headers(headers);
        tokio::time::timeout(within, self.exchange(request)).await.map_err(|_elapsed| NoReply::TimedOut)?
    }

    async fn exchange(&self, request: RequestBuilder) -> Result<HttpReply, NoReply> {
        let mut response = request.send().await.map_err(|error| failed(&error))?;
        let (status, headers) = (response.status().as_u16(), mem::take(response.headers_mut()));
        Ok(HttpReply { status, headers, body: self.read_bounded(response).await? })
    }

    async fn read_bounded(&self, mut response: Response) -> Result<Vec<u8>, NoReply> {
        let mut reply = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
            if reply.len().saturating_add(chunk.len()) > self.reply_bytes_max {
                return Err(NoReply::Unreadable);
            }
            reply.extend_from_slice(&chunk);
        }
        Ok(reply)
    }
}

impl std::fmt::Debug for HttpReply {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "HttpReply({}, {} headers, {} bytes)", self.status, self.headers.len(), self.body.len())
    }
}

fn failed(error: &reqwest::Error) -> NoReply {
    if error.is_connect() {
        NoReply::NeverSent
    } else if error.is_timeout() {
        NoReply::TimedOut
    } else {
        NoReply::ConnectionLost
    }
}
