//! Sends what the library asks. Answers are short, come soon, and lead nowhere else.

use std::{pin::Pin, time::Duration};

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse, http::Response};
use reqwest::{Client, Request, redirect, retry};
use rustls::crypto::CryptoProvider;

use crate::settings::is_safe;

/// How long the provider may take for one answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest answer, in bytes. Keys with their certificates are longer than anything else.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// The HTTP client. Clones share their connections.
#[derive(Clone, Debug)]
pub(super) struct Http(Client);

/// Why there is no answer. No request and no answer is repeated, because they hold tokens.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    /// Others could read what is sent.
    #[error("it names an address that is neither HTTPS nor on this machine")]
    NotEncrypted,
    /// It cannot be reached, or does not answer.
    #[error("it does not answer")]
    NoAnswer(#[source] reqwest::Error),
    /// It sends more than anything that makes sense.
    #[error("its answer is too long")]
    TooLong,
    /// The library's request, or the answer, is not HTTP.
    #[error("its answer is not HTTP")]
    Malformed(#[from] openidconnect::http::Error),
}

impl Http {
    pub(super) fn new() -> Result<Self, reqwest::Error> {
        // Without a provider the client would panic.
        if CryptoProvider::get_default().is_none() {
            // It fails if another thread has just installed one, which is as good.
            let _installed_meanwhile = rustls::crypto::ring::default_provider().install_default();
        }
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .referer(false)
            .timeout(PATIENCE)
            .user_agent("vendgate");
        client.build().map(Self)
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let request: Request = request.try_into().map_err(no_answer)?;
        if !is_safe(request.url()) {
            return Err(HttpError::NotEncrypted);
        }
        let mut answer = self.0.execute(request).await.map_err(no_answer)?;
        let mut response = Response::builder().status(answer.status());
        if let Some(headers) = response.headers_mut() {
            headers.clone_from(answer.headers());
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(no_answer)? {
            if body.len().saturating_add(chunk.len()) > ANSWER_BYTES_MAX {
                return Err(HttpError::TooLong);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(response.body(body)?)
    }
}

/// Without the address, which the settings have.
fn no_answer(error: reqwest::Error) -> HttpError {
    HttpError::NoAnswer(error.without_url())
}

impl<'c> AsyncHttpClient<'c> for Http {
    type Error = HttpError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}
