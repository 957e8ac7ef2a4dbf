//! The body of a request, read within bounds of size and time.

use std::time::Duration;

use actix_web::{
    HttpRequest,
    http::header::CONTENT_LENGTH,
    web::{BytesMut, Payload},
};
use futures_util::StreamExt;
use tokio::sync::OwnedSemaphorePermit;

use error_codes::ErrorCode;
use messages::{Detail, Locale};

use crate::{ApiError, Fields, OVERLOAD_PAUSE, RequestContext, SharedState};

/// How long a request waits for a place among those that send a large body.
const LARGE_BODY_WAIT: Duration = Duration::from_secs(2);

/// Reads the fields of a JSON body, whatever its content type is. From here on, errors are answered in the language
/// that the body's `language` names.
pub async fn read_fields(request: &HttpRequest, payload: Payload) -> Result<Fields, ApiError> {
    let bytes_max = SharedState::of(request).body_bytes_max;
    fields_of(request, &read(request, payload, bytes_max).await?)
}

/// Reads a body that may be as large as `bytes_max`. Only a few of them are read and held at a time, so that the memory is bounded; the
/// permit ends with the returned value. A request that finds no place for a while is answered `rate_limited`.
pub async fn read_large_body(
    request: &HttpRequest,
    payload: Payload,
    bytes_max: usize,
) -> Result<LargeBody, ApiError> {
    let shared = SharedState::of(request);
    let place = tokio::time::timeout(LARGE_BODY_WAIT, shared.large_bodies.clone().acquire_owned()).await;
    let busy = || ApiError::new(ErrorCode::RateLimited).after(OVERLOAD_PAUSE).closing_the_connection();
    let place = place.map_err(|_still_full| busy())?.map_err(|_closed| busy())?;
    Ok(LargeBody { bytes: read(request, payload, bytes_max).await?, _place: place })
}

/// A body that was read by [`read_large_body`].
#[derive(Debug)]
pub struct LargeBody {
    /// What was sent.
    pub bytes: BytesMut,
    _place: OwnedSemaphorePermit,
}

/// The fields of a JSON body that was read. From here on, errors are answered in the language that its `language` names.
pub fn fields_of(request: &HttpRequest, body: &[u8]) -> Result<Fields, ApiError> {
    let fields = Fields::parse(body)?;
    set_language_of(request, &fields);
    Ok(fields)
}

/// From here on, errors are answered in the language that the field `language` names, if it does.
pub fn set_language_of(request: &HttpRequest, fields: &Fields) {
    if let Some(locale) = fields.peek_text("language").and_then(|tag| Locale::parse(&tag).ok()) {
        RequestContext::of(request).set_language(locale.language());
    }
}

async fn read(request: &HttpRequest, payload: Payload, bytes_max: usize) -> Result<BytesMut, ApiError> {
    let shared = SharedState::of(request);
    let spent = shared.clock().monotonic().elapsed_since(RequestContext::of(request).head_read_at());
    let reading = collect(request, payload, bytes_max);
    tokio::time::timeout(shared.body_within.saturating_sub(spent), reading)
        .await
        .map_err(|_too_slow| too_slow(shared.body_within))?
}

async fn collect(
    request: &HttpRequest,
    mut payload: Payload,
    bytes_max: usize,
) -> Result<BytesMut, ApiError> {
    if announced(request).is_some_and(|length| length > bytes_max) {
        return Err(too_large(bytes_max));
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|cause| {
            ApiError::new(Detail::BodyBroken).closing_the_connection().because(cause.to_string())
        })?;
        if body.len().saturating_add(chunk.len()) > bytes_max {
            return Err(too_large(bytes_max));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn announced(request: &HttpRequest) -> Option<usize> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large(bytes_max: usize) -> ApiError {
    ApiError::new(Detail::BodyTooLarge).with("limit", bytes_max).closing_the_connection()
}

fn too_slow(within: Duration) -> ApiError {
    ApiError::new(Detail::BodyTooSlow).with("limit", within.as_secs()).closing_the_connection()
}
