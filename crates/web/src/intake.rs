//! The door: every request gets its name, its arrival time and its log line here, and every error its
//! envelope, whoever raised it: a handler, an extractor, the router, or a panic. How often its sender may
//! still come is written on the answer here, whoever counted.

use std::{any::Any, panic::AssertUnwindSafe, rc::Rc, sync::Arc, time::Duration};

use actix_web::{
    Error, HttpMessage,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        StatusCode,
        header::{
            ACCEPT_LANGUAGE, AUTHORIZATION, CACHE_CONTROL, HeaderMap, HeaderValue, X_CONTENT_TYPE_OPTIONS,
        },
    },
    middleware::Next,
};
use futures_util::FutureExt;
use tracing::Instrument;

use error_codes::ErrorCode;
use messages::{Detail, Language};

use crate::{
    Answers, ApiError, CallerSocket, Front, RequestId, Visit,
    connection::{Answered, BrokenHead},
    envelope::Envelope,
    limits::{Counted, admit_address},
    measures, request_id,
};

/// The outermost middleware of an application: `App::new().wrap(from_fn(web::intake))`.
pub async fn intake(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let _answered = Answered(request.request().conn_data::<Arc<Answers>>().cloned());
    let front = Front::of(request.request());
    let visit = welcome(&request, &front);
    request.extensions_mut().insert(Rc::clone(&visit));
    let route = measures::route(&request);
    let span = tracing::info_span!(
        "request",
        request_id = visit.request_id().as_str(),
        method = %request.method(),
        path = request.path(),
    );
    let answer = attend(request, next, &front, &visit).instrument(span).await;
    measures::answered(route, &answer, took(&front, &visit));
    if visit.is_held_back() {
        front.limits.hold_back().await;
    }
    answer
}

async fn attend(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
    front: &Front,
    visit: &Visit,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let outcome = match check_head(&request, front) {
        Ok(()) => AssertUnwindSafe(async { next.call(request).await }).catch_unwind().await,
        Err(refusal) => Ok(Err(refusal.into())),
    };
    let answer = match outcome {
        Ok(Ok(answer)) if answer.status().as_u16() < 400 => Ok(answer.map_into_boxed_body()),
        Ok(Ok(answer)) => {
            let envelope = enclose_raised(answer.response().error(), answer.status(), front, visit);
            Ok(answer.into_response(envelope.response()))
        }
        Ok(Err(error)) => {
            let status = error.as_response_error().status_code();
            Err(close(enclose_raised(Some(&error), status, front, visit), visit))
        }
        Err(panic) => Err(close(enclose(&after_panic(panic.as_ref(), visit), front, visit), visit)),
    };
    match answer {
        Ok(mut answer) => {
            mark(answer.headers_mut(), visit);
            tracing::info!(status = answer.status().as_u16(), took_ms = took_ms(front, visit), "answered");
            Ok(answer)
        }
        Err(envelope) => Err(envelope.into()),
    }
}

/// What is wrong with a head that could be parsed, or with the one that this request stands in for.
fn check_head(request: &ServiceRequest, front: &Front) -> Result<(), ApiError> {
    let headers = request.headers();
    if let Some(broken) = BrokenHead::told_by(headers) {
        return Err(broken.error(front));
    }
    let fields = headers.iter().map(|(name, value)| name.as_str().len() + value.len());
    let address = request.uri().path_and_query().map_or(0, |address| address.as_str().len());
    if fields.sum::<usize>() + address > front.head_bytes_max {
        let too_large = ApiError::new(Detail::HeadTooLarge).with("limit", front.head_bytes_max);
        return Err(too_large.closing_the_connection());
    }
    // Which of two credentials counts is not for us to guess.
    if headers.get_all(AUTHORIZATION).nth(1).is_some() {
        return Err(ApiError::new(Detail::RepeatedHeader).about("authorization"));
    }
    Ok(())
}

fn welcome(request: &ServiceRequest, front: &Front) -> Rc<Visit> {
    let (headers, now) = (request.headers(), front.clock().monotonic());
    let language = headers
        .get(ACCEPT_LANGUAGE)
        .and_then(|value| value.to_str().ok())
        .map_or_else(Language::default, Language::accepted);
    Visit::new(
        RequestId::accept_or_generate(headers.get(request_id::HEADER)),
        now,
        request.request().conn_data::<Arc<CallerSocket>>().cloned(),
        front.limits.origin(request.request(), now),
        // As the router reads it, which undoes escapes.
        front.surface_of(request.match_info().as_str()),
        language,
    )
}

/// An envelope for an answer that will not come back through this middleware's own response.
fn close(envelope: Envelope, visit: &Visit) -> Envelope {
    let mut headers = HeaderMap::new();
    mark(&mut headers, visit);
    headers.into_iter().fold(envelope, |envelope, (name, value)| envelope.with_header(name, value))
}

fn enclose_raised(raised: Option<&Error>, status: StatusCode, front: &Front, visit: &Visit) -> Envelope {
    if status.is_client_error() && !visit.is_counted() {
        // Nobody has asked yet how often such a sender comes.
        if let Err(too_often) = admit_address(front, visit, Counted::Malformed) {
            return enclose(&too_often, front, visit);
        }
    }
    match raised.and_then(|error| error.as_error::<ApiError>()) {
        Some(error) => enclose(error, front, visit),
        None => enclose(&as_api_error(raised, status), front, visit),
    }
}

fn enclose(error: &ApiError, front: &Front, visit: &Visit) -> Envelope {
    // What is wrong with a request is told in the request's own words, which may be a password in the wrong field.
    let chain = chain_of(error).filter(|_| is_ours(error.code()));
    let code = error.code().as_str();
    if is_for_the_operator(error.code()) {
        tracing::error!(code, param = error.param(), chain, "refused");
    } else {
        tracing::info!(code, param = error.param(), chain, "refused");
    }
    Envelope::around(error, front, visit)
}

/// What came of us, or of those behind us, and not of what was asked.
const fn is_ours(code: ErrorCode) -> bool {
    code.status() >= 500 || matches!(code, ErrorCode::RateLimited)
}

/// What nobody but us can mend.
const fn is_for_the_operator(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::InternalError | ErrorCode::UpstreamError | ErrorCode::MerchantCreditExhausted)
}

/// The framework's own errors, by the status that it gives them.
fn as_api_error(raised: Option<&Error>, status: StatusCode) -> ApiError {
    let error = match status {
        StatusCode::NOT_FOUND => ApiError::new(ErrorCode::ResourceNotFound),
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT => {
            ApiError::new(Detail::BodyBroken).closing_the_connection()
        }
        other if other.is_client_error() => ApiError::new(Detail::BodyBroken),
        _ours => ApiError::new(ErrorCode::InternalError),
    };
    match raised {
        Some(cause) => error.because(cause.to_string()),
        None => error,
    }
}

/// Where money may have moved, a failure of ours is a question for retry, not an invitation to buy again.
fn after_panic(panic: &(dyn Any + Send), visit: &Visit) -> ApiError {
    // Words that were put together may hold what nobody may read.
    let said = panic.downcast_ref::<&str>().copied().unwrap_or("a panic whose words stay unsaid");
    let code =
        if visit.may_have_moved_money() { ErrorCode::ProviderTimeout } else { ErrorCode::InternalError };
    ApiError::new(code).because(said)
}

fn mark(headers: &mut HeaderMap, visit: &Visit) {
    headers.insert(request_id::HEADER, visit.request_id().header_value());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Some(allowance) = visit.allowance() {
        allowance.mark(headers);
    }
    for (name, value) in visit.surface_headers() {
        headers.insert(name.clone(), value.clone());
    }
}

fn took(front: &Front, visit: &Visit) -> Duration {
    front.clock().monotonic().elapsed_since(visit.arrived_at())
}

fn took_ms(front: &Front, visit: &Visit) -> u64 {
    u64::try_from(took(front, visit).as_millis()).unwrap_or(u64::MAX)
}

fn chain_of(error: &ApiError) -> Option<String> {
    let causes: Vec<String> = std::iter::successors(std::error::Error::source(error), |cause| cause.source())
        .map(ToString::to_string)
        .collect();
    (!causes.is_empty()).then(|| causes.join(": "))
}
