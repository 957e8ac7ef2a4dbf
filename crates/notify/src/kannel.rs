//! Text messages through Kannel's `sendsms` interface (Kannel user guide, "HTTP interface to send SMS messages").
//!
//! The text is the body of a POST, and everything else is in `X-Kannel-` header fields. Neither the password nor the
//! text, which contains a meter token, is in a URL that a server or a proxy would log. Kannel 1.4.5 answers 400
//! `Invalid content-type` to a form. Its documentation calls the XML that it also accepts experimental. Connect to it
//! over a private network or TLS.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url, redirect, retry};
use rustls::crypto::CryptoProvider;
use secrecy::ExposeSecret;

use crate::{Coding, Gateway, GatewayError, Letter, SmsSettings, SmsText, Undelivered};

/// Longer than any reply of Kannel.
const REPLY_BYTES_MAX: usize = 512;

/// The start of Kannel's reply if it will never serve this number. It uses the same statuses when it does not know the
/// user, does not accept the sender, or does not accept a parameter. Those refusals concern the settings: the digits of
/// the number are valid.
const NOT_THIS_NUMBER: &str = "Number(s) has/have been denied";

const USERNAME: HeaderName = HeaderName::from_static("x-kannel-username");
const PASSWORD: HeaderName = HeaderName::from_static("x-kannel-password");
const FROM: HeaderName = HeaderName::from_static("x-kannel-from");
const TO: HeaderName = HeaderName::from_static("x-kannel-to");
const CODING: HeaderName = HeaderName::from_static("x-kannel-coding");
const ACCOUNT: HeaderName = HeaderName::from_static("x-kannel-account");

/// A Kannel smsbox.
pub struct Kannel {
    client: Client,
    url: Url,
    /// The header fields that are the same for every message: the credentials and the sender.
    head: HeaderMap,
    number_prefix: String,
}

impl Kannel {
    /// Prepares the client. Opens no connection yet.
    pub fn new(settings: &SmsSettings) -> Result<Self, GatewayError> {
        // Without a provider, the client would panic.
        if CryptoProvider::get_default().is_none() {
            return Err(GatewayError::NoTlsProvider);
        }
        let mut client = Client::builder()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .referer(false)
            .http1_only()
            .timeout(Duration::from_millis(settings.timeout_ms))
            .user_agent("vendgate");
        if settings.url.scheme() == "http" {
            // Reading the certificate authorities of the machine takes time and memory.
            client = client.tls_certs_only([]);
        }
        Ok(Self {
            client: client.build().map_err(GatewayError::Http)?,
            url: settings.url.clone(),
            head: head(settings)?,
            number_prefix: settings.number_prefix.clone(),
        })
    }
}

#[async_trait]
impl Gateway for Kannel {
    async fn send(&self, letter: &Letter) -> Result<(), Undelivered> {
        let text = SmsText::new(&letter.text);
        let coding = match text.coding() {
            Coding::Gsm7 => "0",
            Coding::Ucs2 => "2",
        };
        let to = format!("{}{}", self.number_prefix, letter.to);
        let id = letter.id.to_string();
        let request = self.client.post(self.url.clone()).headers(self.head.clone());
        let request = request
            .header(TO, to)
            .header(CODING, coding)
            // Kannel stores it with the message and logs it. It identifies a repeat.
            .header(ACCOUNT, id)
            .body(text.into_string());
        let response = request.send().await.map_err(|error| broken(&error))?;
        verdict(response).await
    }
}

impl fmt::Debug for Kannel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Kannel").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

fn head(settings: &SmsSettings) -> Result<HeaderMap, GatewayError> {
    let field = |setting, text: &str| {
        HeaderValue::from_bytes(text.as_bytes()).map_err(|_control| GatewayError::Unsendable { setting })
    };
    let mut password = field("password", settings.password.expose_secret())?;
    password.set_sensitive(true);
    Ok(HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=UTF-8")),
        (USERNAME, field("username", &settings.username)?),
        (PASSWORD, password),
        (FROM, field("from", &settings.from)?),
    ]))
}

/// 202 is acceptance, whatever the body is: it depends on what Kannel does next. A refusal is final only if it concerns
/// this number. The operator can correct the causes of all others.
async fn verdict(response: Response) -> Result<(), Undelivered> {
    let status = response.status();
    let said = status.as_u16().to_string();
    match status {
        StatusCode::ACCEPTED => Ok(()),
        StatusCode::BAD_REQUEST | StatusCode::FORBIDDEN => match beginning(response).await {
            Some(reply) if reply.starts_with(NOT_THIS_NUMBER) => Err(Undelivered::Refused { said }),
            Some(_) | None => Err(Undelivered::Later { said }),
        },
        _ => Err(Undelivered::Later { said }),
    }
}

async fn beginning(mut response: Response) -> Option<String> {
    let mut reply = Vec::new();
    while reply.len() < REPLY_BYTES_MAX {
        let Some(chunk) = response.chunk().await.ok()? else { break };
        reply.extend_from_slice(&chunk);
    }
    Some(String::from_utf8_lossy(&reply).into_owned())
}

/// Does not include the error itself, which contains the URL.
fn broken(error: &reqwest::Error) -> Undelivered {
    let said = if error.is_connect() {
        "no connection"
    } else if error.is_timeout() {
        "no answer in time"
    } else {
        "the connection broke"
    };
    Undelivered::Later { said: said.to_owned() }
}
