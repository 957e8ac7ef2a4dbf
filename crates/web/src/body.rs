//! The body of a request, read within bounds of size and time.

use std::time::Duration;

use actix_web::{
    HttpRequest,
    http::header::CONTENT_LENGTH,
    web::{BytesMut, Payload},
};
use futures_util::StreamExt;

use messages::{Detail, Locale};

use crate::{ApiError, Fields, RequestContext, SharedState};

/// Reads the fields of a JSON body, whatever its content type is. From here on, errors are answered in the language
/// that the body's `language` names.
pub async fn read_fields(request: &HttpRequest, payload: Payload) -> Result<Fields, ApiError> {
    let shared = SharedState::of(request);
    let context = RequestContext::of(request);
    let spent = shared.clock().monotonic().elapsed_since(context.head_read_at());
    let reading = collect(request, payload, shared.body_bytes_max);
    let body = tokio::time::timeout(shared.body_within.saturating_sub(spent), reading)
        .await
        .map_err(|_too_slow| too_slow(shared.body_within))??;
    let fields = Fields::parse(&body)?;
    if let Some(locale) = fields.peek_text("language").and_then(|tag| Locale::parse(&tag).ok()) {
        context.speak(locale.language());
    }
    Ok(fields)
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
