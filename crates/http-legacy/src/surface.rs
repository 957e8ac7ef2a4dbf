//! The error bodies and headers of everything below `/auth` and `/api`.

use actix_web::http::header::{HeaderName, HeaderValue, LINK};
use serde::Serialize;
use serde_json::{Map, Value};

use purchase::Recovery;
use web::{Detail, ErrorDetails, NextStep, Sentence, Surface};

/// When this surface was deprecated: the day on which the versioned one was first served, in seconds of the epoch.
pub const DEPRECATED_AT: i64 = 1_795_132_800;

/// RFC 9745, section 2.
const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");

/// How the caller gets the outcome of a purchase that is not known yet.
const RECOVERY: HeaderName = HeaderName::from_static("recovery");

/// Whether a new purchase may succeed after a failure.
const FAILURE: HeaderName = HeaderName::from_static("failure");

/// The header of an answer that is not final.
pub(crate) fn recovery(recovery: &Recovery) -> (HeaderName, HeaderValue) {
    let value = HeaderValue::try_from(NextStep::header(recovery));
    (RECOVERY, value.expect("a word and two numbers are a header value"))
}

/// This surface, for [`web::SharedState::with_surface`].
#[derive(Clone, Copy, Debug)]
pub struct Current;

/// The error body (specification, section 7.5).
#[derive(Serialize)]
struct ErrorBody<'a> {
    response_code: &'static str,
    response_message: &'a str,
    timestamp: i64,
    developer_message: String,
    errors: Map<String, Value>,
}

impl Surface for Current {
    fn roots(&self) -> &[&str] {
        &["/auth", "/api"]
    }

    fn field<'a>(&self, field: &'a str) -> &'a str {
        if field == "subscriber_identifier" { "meter_number" } else { field }
    }

    /// The sentences that were added after this surface was frozen are said as before.
    fn sentence(&self, sentence: Sentence) -> Sentence {
        match sentence.detail() {
            Some(Detail::PurchaseOpen | Detail::StillOpen) => sentence.code().into(),
            _ => sentence,
        }
    }

    fn error_body(&self, error: &ErrorDetails<'_>) -> String {
        let field = error.field.map(|field| (field.to_owned(), Value::from(error.message)));
        let body = ErrorBody {
            response_code: error.code.as_str(),
            response_message: error.message,
            timestamp: error.at.timestamp_millis(),
            developer_message: format!("{}; request id {}", error.code, error.request_id),
            errors: field.into_iter().collect(),
        };
        serde_json::to_string(&body).expect("texts and numbers always serialise")
    }

    /// The body is frozen, so later additions are headers: structured fields (RFC 9651).
    fn error_headers(&self, error: &ErrorDetails<'_>) -> Vec<(HeaderName, HeaderValue)> {
        let failure = error.buy_again.map(|may_succeed| {
            let value = if may_succeed { "buy-again" } else { "buy-again=?0" };
            (FAILURE, HeaderValue::from_static(value))
        });
        error.recovery.map(recovery).into_iter().chain(failure).collect()
    }

    fn headers(&self, public_url: &str) -> Vec<(HeaderName, HeaderValue)> {
        let guide = format!("<{public_url}/docs/migrating>; rel=\"deprecation\"; type=\"text/html\"");
        // If the address cannot be a header value, the link is left out and the answer is still sent.
        let link = HeaderValue::try_from(guide).ok().map(|link| (LINK, link));
        let since = HeaderValue::try_from(format!("@{DEPRECATED_AT}")).expect("digits are a header value");
        [(DEPRECATION, since)].into_iter().chain(link).collect()
    }
}
