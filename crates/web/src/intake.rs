//! The outermost middleware. It gives every request its request id, the time at which its head was read, and its log line. It gives
//! every error its envelope, wherever the error was raised: in a handler, an extractor, the router, or a panic. It also
//! writes the sender's remaining rate limit on the answer, whichever limit counted.

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
    AnsweredRequests, ApiError, CallerSocket, RequestContext, RequestId, SharedState,
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
    let _answered = Answered(request.request().conn_data::<Arc<AnsweredRequests>>().cloned());
    let shared = SharedState::of(request.request());
    let context = context_of(&request, &shared);
    request.extensions_mut().insert(Rc::clone(&context));
    let route = measures::route(&request);
    let span = tracing::info_span!(
        "request",
        request_id = context.request_id().as_str(),
        method = %request.method(),
        path = request.path(),
    );
    let answer = handle(request, next, &shared, &context).instrument(span).await;
    measures::trace_request(&context, &route, &answer);
    measures::answered(route, &answer, took(&shared, &context));
    if context.is_held_back() {
        shared.limits.hold_back().await;
    }
    answer
}

async fn handle(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
    shared: &SharedState,
    context: &RequestContext,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let outcome = match check_head(&request, shared) {
        Ok(()) => AssertUnwindSafe(async { next.call(request).await }).catch_unwind().await,
        Err(refusal) => Ok(Err(refusal.into())),
    };
    let answer = match outcome {
        Ok(Ok(answer)) if answer.status().as_u16() < 400 => Ok(answer.map_into_boxed_body()),
        Ok(Ok(answer)) => {
            let envelope = enclose_raised(answer.response().error(), answer.status(), shared, context);
            Ok(answer.into_response(envelope.response()))
        }
        Ok(Err(error)) => {
            let status = error.as_response_error().status_code();
            Err(close(enclose_raised(Some(&error), status, shared, context), context))
        }
        Err(panic) => Err(close(enclose(&after_panic(panic.as_ref(), context), shared, context), context)),
    };
    match answer {
        Ok(mut answer) => {
            mark(answer.headers_mut(), context);
            tracing::info!(status = answer.status().as_u16(), took_ms = took_ms(shared, context), "answered");
            Ok(answer)
        }
        Err(envelope) => Err(envelope.into()),
    }
}

/// Checks a head that could be parsed. For a stand-in, returns what was wrong with the head that it replaces.
fn check_head(request: &ServiceRequest, shared: &SharedState) -> Result<(), ApiError> {
    let headers = request.headers();
    if let Some(broken) = BrokenHead::from_mark(headers) {
        return Err(broken.error(shared));
    }
    let fields = headers.iter().map(|(name, value)| name.as_str().len() + value.len());
    let address = request.uri().path_and_query().map_or(0, |address| address.as_str().len());
    if fields.sum::<usize>() + address > shared.head_bytes_max {
        let too_large = ApiError::new(Detail::HeadTooLarge).with("limit", shared.head_bytes_max);
        return Err(too_large.closing_the_connection());
    }
    // The server does not guess which of two credentials counts.
    if headers.get_all(AUTHORIZATION).nth(1).is_some() {
        return Err(ApiError::new(Detail::RepeatedHeader).about("authorization"));
    }
    Ok(())
}

fn context_of(request: &ServiceRequest, shared: &SharedState) -> Rc<RequestContext> {
    let (headers, now) = (request.headers(), shared.clock().monotonic());
    let language = headers
        .get(ACCEPT_LANGUAGE)
        .and_then(|value| value.to_str().ok())
        .map_or_else(Language::default, Language::accepted);
    RequestContext::new(
        RequestId::accept_or_generate(headers.get(request_id::HEADER)),
        now,
        request.request().conn_data::<Arc<CallerSocket>>().cloned(),
        shared.limits.origin(request.request(), now),
        // As the router reads it, with escapes decoded.
        shared.surface_of(request.match_info().as_str()),
        language,
        shared.traces.of_request(),
    )
}

/// Adds the common headers to an envelope that does not come back through this middleware's own response.
fn close(envelope: Envelope, context: &RequestContext) -> Envelope {
    let mut headers = HeaderMap::new();
    mark(&mut headers, context);
    headers.into_iter().fold(envelope, |envelope, (name, value)| envelope.with_header(name, value))
}

fn enclose_raised(
    raised: Option<&Error>,
    status: StatusCode,
    shared: &SharedState,
    context: &RequestContext,
) -> Envelope {
    if status.is_client_error() && !context.is_counted() {
        // No limit has counted this request yet.
        if let Err(too_often) = admit_address(shared, context, Counted::Malformed) {
            return enclose(&too_often, shared, context);
        }
    }
    match raised.and_then(|error| error.as_error::<ApiError>()) {
        Some(error) => enclose(error, shared, context),
        None => enclose(&as_api_error(raised, status), shared, context),
    }
}

fn enclose(error: &ApiError, shared: &SharedState, context: &RequestContext) -> Envelope {
    // The cause of a bad request may quote it, for example a password in the wrong field. So only our own causes are
    // logged.
    let chain = chain_of(error).filter(|_| is_ours(error.code()));
    let code = error.code().as_str();
    if is_for_the_operator(error.code()) {
        tracing::error!(code, param = error.param(), chain, "refused");
    } else {
        tracing::info!(code, param = error.param(), chain, "refused");
    }
    Envelope::around(error, shared, context)
}

/// Whether the error was caused by us or by the systems behind us, and not by the request.
const fn is_ours(code: ErrorCode) -> bool {
    code.status() >= 500 || matches!(code, ErrorCode::RateLimited)
}

/// Whether only the operator can correct the error.
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

/// Where money may have moved, our own failure must lead to a retry, not to a second purchase.
fn after_panic(panic: &(dyn Any + Send), context: &RequestContext) -> ApiError {
    // A formatted panic message may contain secrets.
    let said = panic.downcast_ref::<&str>().copied().unwrap_or("a panic with a formatted message");
    let code =
        if context.may_have_moved_money() { ErrorCode::ProviderTimeout } else { ErrorCode::InternalError };
    ApiError::new(code).because(said)
}

fn mark(headers: &mut HeaderMap, context: &RequestContext) {
    headers.insert(request_id::HEADER, context.request_id().header_value());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Some(allowance) = context.allowance() {
        allowance.mark(headers);
    }
    for (name, value) in context.surface_headers() {
        headers.insert(name.clone(), value.clone());
    }
}

fn took(shared: &SharedState, context: &RequestContext) -> Duration {
    shared.clock().monotonic().elapsed_since(context.head_read_at())
}

fn took_ms(shared: &SharedState, context: &RequestContext) -> u64 {
    u64::try_from(took(shared, context).as_millis()).unwrap_or(u64::MAX)
}

fn chain_of(error: &ApiError) -> Option<String> {
    let causes: Vec<String> = std::iter::successors(std::error::Error::source(error), |cause| cause.source())
        .map(ToString::to_string)
        .collect();
    (!causes.is_empty()).then(|| causes.join(": "))
}
