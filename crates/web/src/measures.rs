//! The HTTP metrics: answers by route and status, and their duration. The span of a request.

use std::time::Duration;

use actix_web::{
    Error,
    dev::{ServiceRequest, ServiceResponse},
    http::StatusCode,
};
use metrics::{counter, describe_counter, describe_histogram, histogram};
use traces::{Attribute, Name, SpanEnd};

use crate::RequestContext;

const ANSWERS: &str = "vendgate_http_answers_total";
const SERVER_ERRORS: &str = "vendgate_http_server_errors_total";
const SECONDS: &str = "vendgate_http_seconds";

/// Describes the metrics of this crate to the metrics recorder.
pub fn describe_metrics() {
    describe_counter!(ANSWERS, "Answers over HTTP, by the route and the status.");
    describe_counter!(SERVER_ERRORS, "Answers with status 500. Each is a defect or a broken part of ours.");
    // An alert sees the first one only beside a zero.
    counter!(SERVER_ERRORS).absolute(0);
    describe_histogram!(
        SECONDS,
        "How long answers over HTTP took from the arrival of the head, by the route."
    );
}

/// The pattern of the route that a request matches. Never a path that a client has made up.
pub(crate) fn route(request: &ServiceRequest) -> String {
    request.match_pattern().unwrap_or_else(|| "none".to_owned())
}

/// Counts an answer.
pub(crate) fn answered<B>(route: String, answer: &Result<ServiceResponse<B>, Error>, took: Duration) {
    let status = status(answer);
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        counter!(SERVER_ERRORS).increment(1);
    }
    counter!(ANSWERS, "route" => route.clone(), "status" => three_digits(status)).increment(1);
    histogram!(SECONDS, "route" => route).record(took);
}

/// Reports the request in the trace of the purchase that it was about, if it was about one.
pub(crate) fn trace_request<B>(
    context: &RequestContext,
    route: &str,
    answer: &Result<ServiceResponse<B>, Error>,
) {
    let span = context.trace().found().began(Name::Request, context.head_read_at());
    span.end(|| {
        let status = status(answer);
        let facts = [Attribute::Route(route.to_owned()), Attribute::Status(status.as_u16())];
        SpanEnd::of(facts).failed_if(status.is_server_error())
    });
}

fn status<B>(answer: &Result<ServiceResponse<B>, Error>) -> StatusCode {
    match answer {
        Ok(answer) => answer.status(),
        Err(error) => error.as_response_error().status_code(),
    }
}

fn three_digits(status: StatusCode) -> String {
    status.as_u16().to_string()
}
