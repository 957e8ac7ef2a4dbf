//! The client, and the exchange.

use std::time::Duration;

use provider::Gate;
use reqwest::header::HeaderMap;
use reqwest::{Body, Certificate, Client, Identity, RequestBuilder, Response, Url, redirect, retry};
use rustls::crypto::CryptoProvider;
use secrecy::{ExposeSecret, SecretString};

use crate::NoReply;
use crate::body::{Departure, GatedBody};

/// No reply of any vendor comes near it.
const REPLY_BYTES_MAX: usize = 1024 * 1024;

/// Shorter than any server keeps an idle connection, so that an order is not written into one that is
/// just being closed: that would end in doubt for nothing.
const IDLE_CONNECTION: Duration = Duration::from_secs(2);

/// What a client is made of.
#[derive(Clone, Copy, Debug)]
pub struct TransportSettings<'a> {
    /// Longest wait for a connection.
    pub connect_within: Duration,
    /// Client certificate and key, PEM, one after the other, where the vendor wants them.
    pub client_certificate_pem: Option<&'a SecretString>,
    /// Certificate authorities, PEM, trusted beside those of the machine.
    pub extra_root_certificate_pem: Option<&'a str>,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The process has not installed a rustls crypto provider.
    #[error("no TLS provider is installed in this process")]
    NoTlsProvider,
    /// A text without any, given as one.
    #[error("the extra root certificate is no PEM certificate")]
    NoRootCertificate,
    /// Certificates that cannot be read.
    #[error("the HTTP client cannot be built")]
    Client(#[source] reqwest::Error),
}

/// The way to one vendor. A connection dies with the runtime that opened it, so orders and questions that
/// are put from different runtimes want a transport each.
#[derive(Clone, Debug)]
pub struct Transport {
    client: Client,
}

/// A message with a body, which the gate can stop.
#[derive(Debug)]
pub struct Outgoing {
    /// Where it is posted.
    pub url: Url,
    /// What is said about it. Credentials are to be marked as sensitive.
    pub headers: HeaderMap,
    /// The message. An empty one is not sent: nobody asks for a body of nothing, so it is not seen leaving.
    pub body: Vec<u8>,
}

/// What came back.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// The HTTP status.
    pub status: u16,
    /// The body as it came. May hold tokens and is not printed.
    pub body: Vec<u8>,
}

impl Transport {
    /// Prepares the client; connects to nobody yet.
    pub fn new(settings: TransportSettings<'_>) -> Result<Self, TransportError> {
        // The client would panic.
        if CryptoProvider::get_default().is_none() {
            return Err(TransportError::NoTlsProvider);
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
            .user_agent("vendgate");
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
        builder.build().map(|client| Self { client }).map_err(TransportError::Client)
    }

    /// Posts one message and returns what came back, whatever its status. The gate is looked at when the
    /// connection stands and the first byte of the body is about to leave.
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
        let reply = tokio::time::timeout(within, exchange(request)).await;
        if departure.withdraw() {
            return Err(NoReply::NeverSent);
        }
        reply.map_err(|_elapsed| NoReply::TimedOut)?.map_err(NoReply::after_departure)
    }

    /// Asks for what lies at an address, and returns what came back, whatever its status.
    pub async fn get(&self, url: Url, headers: HeaderMap, within: Duration) -> Result<HttpReply, NoReply> {
        let request = self.client.get(url).headers(headers);
        tokio::time::timeout(within, exchange(request)).await.map_err(|_elapsed| NoReply::TimedOut)?
    }
}

impl std::fmt::Debug for HttpReply {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "HttpReply({}, {} bytes)", self.status, self.body.len())
    }
}

async fn exchange(request: RequestBuilder) -> Result<HttpReply, NoReply> {
    let response = request.send().await.map_err(|error| failed(&error))?;
    let status = response.status().as_u16();
    Ok(HttpReply { status, body: read_bounded(response).await? })
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
    if error.is_connect() {
        NoReply::NeverSent
    } else if error.is_timeout() {
        NoReply::TimedOut
    } else {
        NoReply::ConnectionLost
    }
}
