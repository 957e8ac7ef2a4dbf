//! One attempt: one HTTP request to one endpoint.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, redirect, retry};
use rustls::crypto::CryptoProvider;
use webhook::{Destination, DestinationRules};

use crate::resolver::{CheckedResolver, Unresolved};

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// How long an idle connection is kept. A connection was checked when it was opened, so a busy endpoint may reuse it.
const IDLE_CONNECTION: Duration = Duration::from_secs(2);

/// How many idle connections to one endpoint are kept.
const IDLE_MAX: usize = 2;

/// How many header fields a reply may have. No more of a reply than its head is read.
const HEADERS_MAX: usize = 64;

/// Sends messages to endpoints. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Sender {
    client: Client,
    rules: Arc<DestinationRules>,
    within: Duration,
}

/// A signed message.
#[derive(Clone, Debug)]
pub struct Signed {
    /// The id of the event: the same at every attempt.
    pub id: String,
    /// When the attempt began, in seconds since 1970.
    pub timestamp: i64,
    /// The signatures of this id, time and body.
    pub signature: String,
    /// The JSON of the event.
    pub body: Vec<u8>,
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The endpoint answered.
    Answered {
        /// The HTTP status.
        status: u16,
        /// How long the endpoint asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// The endpoint did not answer.
    Unanswered(Unanswered),
}

/// Why an endpoint did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// Its name leads to no address.
    NotResolved,
    /// Its address may not be called. Nothing was sent.
    NotAllowed,
    /// No connection, or no valid certificate. Nothing was sent.
    NoConnection,
    /// No answer in time.
    TimedOut,
    /// The connection broke, or the answer was not HTTP.
    Broken,
    /// The message cannot be sent, whatever the endpoint does.
    Unsendable,
}

/// Why messages cannot be sent at all.
#[derive(Debug, thiserror::Error)]
pub enum SenderError {
    /// The process has not installed a rustls crypto provider.
    #[error("no TLS provider is installed in this process")]
    NoTlsProvider,
    /// The client cannot be built.
    #[error("the HTTP client for webhooks cannot be built")]
    Client(#[source] reqwest::Error),
}

impl Sender {
    /// Prepares the client. It opens no connection yet. An attempt ends after `within`, and its connection must be open after
    /// `connect_within`.
    pub fn new(
        rules: DestinationRules,
        connect_within: Duration,
        within: Duration,
    ) -> Result<Self, SenderError> {
        // Without a provider the client would panic.
        if CryptoProvider::get_default().is_none() {
            return Err(SenderError::NoTlsProvider);
        }
        let rules = Arc::new(rules);
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .referer(false)
            .no_gzip()
            .http1_only()
            .http1_max_headers(HEADERS_MAX)
            .tcp_nodelay(true)
            .pool_idle_timeout(IDLE_CONNECTION)
            .pool_max_idle_per_host(IDLE_MAX)
            .connect_timeout(connect_within)
            .dns_resolver(CheckedResolver::new(rules.clone()))
            .user_agent("vendgate-webhooks")
            .build()
            .map_err(SenderError::Client)?;
        Ok(Self { client, rules, within })
    }

    /// What an endpoint may be, by the rules of this sender.
    pub fn rules(&self) -> &DestinationRules {
        &self.rules
    }

    /// Posts one message. The body of the answer is not read: an endpoint cannot make this process hold it.
    pub async fn send(&self, destination: &Destination, message: Signed) -> Outcome {
        // The client does not resolve an address in digits.
        let digits = destination
            .url()
            .host_str()
            .and_then(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().ok());
        if digits.is_some_and(|address| !self.rules.allow(address)) {
            return Outcome::Unanswered(Unanswered::NotAllowed);
        }
        let Some(headers) = headers(&message) else { return Outcome::Unanswered(Unanswered::Unsendable) };
        let request = self.client.post(destination.url().clone()).headers(headers).body(message.body);
        match tokio::time::timeout(self.within, request.send()).await {
            Ok(Ok(response)) => {
                Outcome::Answered { status: response.status().as_u16(), retry_after: retry_after(&response) }
            }
            Ok(Err(error)) => Outcome::Unanswered(unanswered(&error)),
            Err(_elapsed) => Outcome::Unanswered(Unanswered::TimedOut),
        }
    }
}

impl Unanswered {
    /// Every reason.
    pub const ALL: [Self; 6] = [
        Self::NotResolved,
        Self::NotAllowed,
        Self::NoConnection,
        Self::TimedOut,
        Self::Broken,
        Self::Unsendable,
    ];

    /// The name in the log of attempts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotResolved => "NAME_NOT_RESOLVED",
            Self::NotAllowed => "ADDRESS_NOT_ALLOWED",
            Self::NoConnection => "NO_CONNECTION",
            Self::TimedOut => "TIMED_OUT",
            Self::Broken => "CONNECTION_BROKE",
            Self::Unsendable => "UNSENDABLE",
        }
    }
}

fn headers(message: &Signed) -> Option<HeaderMap> {
    let text = |text: &str| HeaderValue::from_str(text).ok();
    Some(HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (ID, text(&message.id)?),
        (TIMESTAMP, HeaderValue::from(message.timestamp)),
        (SIGNATURE, text(&message.signature)?),
    ]))
}

/// Only the form in seconds: a date depends on the clock of the endpoint.
fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn unanswered(error: &reqwest::Error) -> Unanswered {
    let mut cause = error.source();
    while let Some(error) = cause {
        match error.downcast_ref() {
            Some(Unresolved::NoAddress(_)) => return Unanswered::NotResolved,
            Some(Unresolved::NotAllowed) => return Unanswered::NotAllowed,
            None => cause = error.source(),
        }
    }
    if error.is_connect() {
        Unanswered::NoConnection
    } else if error.is_timeout() {
        Unanswered::TimedOut
    } else {
        Unanswered::Broken
    }
}
