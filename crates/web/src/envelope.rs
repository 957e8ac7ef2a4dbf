//! The error answer of every surface, and the error body of the versioned surface (specification, section 7.1). The
//! versioned surface also answers for every path that belongs to no surface.

use std::time::Duration;

use actix_web::{
    HttpResponse, HttpResponseBuilder, ResponseError,
    http::{
        StatusCode,
        header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE},
    },
};
use serde::Serialize;

use error_codes::{ErrorCode, ErrorType};
use messages::Sentence;

use crate::{ApiError, ErrorDetails, LineMistake, NextStep, REPLAYED, RequestContext, SharedState, Surface};

/// How a client proves itself at refresh (RFC 7617).
const BASIC: &str = "Basic realm=\"vendgate\", charset=\"UTF-8\"";

/// The versioned surface.
#[derive(Debug)]
pub(crate) struct Versioned;

#[derive(Serialize)]
struct Root<'a> {
    error: Body<'a>,
}

#[derive(Serialize)]
struct Body<'a> {
    r#type: &'static str,
    code: &'static str,
    message: &'a str,
    param: Option<&'a str>,
    retryable: bool,
    doc_url: &'a str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery: Option<NextStep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureBody>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lines: &'a [LineMistake],
}

#[derive(Serialize)]
struct FailureBody {
    buy_again: bool,
}

impl Surface for Versioned {
    fn roots(&self) -> &[&str] {
        &[]
    }

    fn field<'a>(&self, field: &'a str) -> &'a str {
        field
    }

    fn sentence(&self, sentence: Sentence) -> Sentence {
        sentence
    }

    fn error_body(&self, error: &ErrorDetails<'_>) -> String {
        let body = Body {
            r#type: error.code.error_type().as_str(),
            code: error.code.as_str(),
            message: error.message,
            param: error.field,
            retryable: error.is_retryable,
            doc_url: error.doc_url,
            request_id: error.request_id.as_str(),
            recovery: error.recovery.map(NextStep::of),
            failure: error.buy_again.map(|buy_again| FailureBody { buy_again }),
            lines: error.lines,
        };
        serde_json::to_string(&Root { error: body }).expect("texts and flags always serialise")
    }

    fn error_headers(&self, _error: &ErrorDetails<'_>) -> Vec<(HeaderName, HeaderValue)> {
        Vec::new()
    }

    fn headers(&self, _public_url: &str) -> Vec<(HeaderName, HeaderValue)> {
        Vec::new()
    }
}

/// A finished error answer: status, headers, body.
#[derive(Debug)]
pub(crate) struct Envelope {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: String,
    closes_connection: bool,
}

impl Envelope {
    pub(crate) fn around(error: &ApiError, shared: &SharedState, context: &RequestContext) -> Self {
        let surface = context.surface();
        let mistake = |(line, wrong): &(usize, ApiError)| LineMistake {
            line: *line,
            code: wrong.code().as_str(),
            param: wrong.field_on(surface).map(str::to_owned),
            message: wrong.message_on(surface, shared.messages(), context.language()),
        };
        let lines: Vec<LineMistake> = error.lines().iter().map(mistake).collect();
        let details = ErrorDetails {
            code: error.code(),
            message: &error.message_on(surface, shared.messages(), context.language()),
            field: error.field_on(surface),
            is_retryable: error.is_retryable(),
            doc_url: &shared.doc_url(error.code()),
            request_id: context.request_id(),
            at: shared.clock().now(),
            recovery: error.recovery(),
            buy_again: error.buy_again(),
            lines: &lines,
        };
        let mut headers = headers(error);
        headers.extend(surface.error_headers(&details));
        Self {
            status: error.status_code(),
            headers,
            body: surface.error_body(&details),
            closes_connection: error.closes_connection(),
        }
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(crate) fn response(&self) -> HttpResponse {
        let mut response = HttpResponseBuilder::new(self.status);
        response.insert_header((CONTENT_TYPE, "application/json"));
        for (name, value) in &self.headers {
            response.insert_header((name.clone(), value.clone()));
        }
        if self.closes_connection {
            response.force_close();
        }
        response.body(self.body.clone())
    }
}

/// The value of a `Retry-After`: rounded up.
pub fn whole_seconds(pause: Duration) -> u64 {
    pause.as_secs().saturating_add(u64::from(pause.subsec_nanos() > 0))
}

fn headers(error: &ApiError) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::new();
    if error.code().error_type() == ErrorType::Authentication {
        let scheme = if error.asks_for_basic() { BASIC } else { "Bearer" };
        headers.push((WWW_AUTHENTICATE, HeaderValue::from_static(scheme)));
    }
    if let Some(pause) = error.retry_after() {
        headers.push((RETRY_AFTER, HeaderValue::from(whole_seconds(pause))));
    }
    if error.is_replayed() {
        headers.push((REPLAYED, HeaderValue::from_static("true")));
    }
    if let Some(allowed) = error.value("allowed").filter(|_| error.code() == ErrorCode::MethodNotAllowed) {
        headers.push((ALLOW, HeaderValue::from_str(allowed).expect("methods are visible ASCII")));
    }
    headers
}

impl std::fmt::Display for Envelope {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "answered {}", self.status)
    }
}

/// Lets the middleware answer with an envelope where it returns an error: to a panic, and to a head that it refuses.
impl ResponseError for Envelope {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        self.response()
    }
}
