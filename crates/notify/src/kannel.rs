//! Text messages through Kannel's `sendsms` interface (Kannel user guide, "HTTP interface to send SMS messages").
//!
//! The interface takes a GET request, so that number and text stand in its address: nothing here repeats that address, and
//! Kannel is to be reached over a private network or TLS.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, Response, StatusCode, Url, redirect, retry};
use rustls::crypto::CryptoProvider;
use secrecy::{ExposeSecret, SecretString};

use crate::{Coding, Gateway, GatewayError, Letter, SmsSettings, SmsText, Undelivered};

/// More than any of Kannel's answers has.
const REPLY_BYTES_MAX: usize = 512;

/// How Kannel begins where it will never serve this number. Under the same statuses it says that it does not know us, does
/// not let us name a sender, or does not like a parameter, and the digits of a number are in order: all that is about us.
const NOT_THIS_NUMBER: &str = "Number(s) has/have been denied";

/// A Kannel smsbox.
pub struct Kannel {
    client: Client,
    url: Url,
    username: String,
    password: SecretString,
    from: String,
    number_prefix: String,
}

impl Kannel {
    /// Prepares the client; connects to nobody yet.
    pub fn new(settings: &SmsSettings) -> Result<Self, GatewayError> {
        // The client would panic.
        if CryptoProvider::get_default().is_none() {
            return Err(GatewayError::NoTlsProvider);
        }
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .referer(false)
            .http1_only()
            .timeout(Duration::from_millis(settings.timeout_ms))
            .user_agent("vendgate")
            .build()
            .map_err(GatewayError::Http)?;
        Ok(Self {
            client,
            url: settings.url.clone(),
            username: settings.username.clone(),
            password: settings.password.clone(),
            from: settings.from.clone(),
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
        let request = self.client.get(self.url.clone()).query(&[
            ("username", self.username.as_str()),
            ("password", self.password.expose_secret()),
            ("from", self.from.as_str()),
            ("to", to.as_str()),
            ("charset", "UTF-8"),
            ("coding", coding),
            // Kannel keeps it with the message and logs it: by it a repeat is recognised.
            ("account", id.as_str()),
            ("text", text.as_str()),
        ]);
        let response = request.send().await.map_err(|error| broken(&error))?;
        verdict(response).await
    }
}

impl fmt::Debug for Kannel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Kannel").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

/// 202 is acceptance, whatever the body says: it differs with what Kannel does next. Of the refusals, that one is final
/// that is about this number; all others are ours to mend.
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

/// Never the error itself: it repeats the address.
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
