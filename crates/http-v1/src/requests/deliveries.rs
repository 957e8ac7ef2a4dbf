//! What is asked about deliveries to a webhook endpoint.

use actix_web::HttpRequest;
use feed::Position;
use web::{ApiError, Detail, Fields};

use super::limits::{ATTEMPTS_DEFAULT, ATTEMPTS_MAX, SHORT_TEXT_MAX};
use super::query::{fields_of, page_length};
use crate::{Endpoint, WebhookCall};

/// The body of redeliver: one event, or the first and the last of a range.
pub fn events_again(fields: &Fields) -> Result<(Position, Position), ApiError> {
    let event =
        |name, id: &str| Position::of_id(id).ok_or_else(|| ApiError::new(Detail::BadEventId).about(name));
    if let Some(id) = fields.optional_text("event_id", SHORT_TEXT_MAX)? {
        let event = event("event_id", &id)?;
        return Ok((event, event));
    }
    let [first, last] = ["from_event_id", "to_event_id"];
    let from = fields.required_text(first, SHORT_TEXT_MAX)?;
    let to = fields.required_text(last, SHORT_TEXT_MAX)?;
    Ok((event(first, &from)?, event(last, &to)?))
}

/// The query of the log: the number before which the page begins, and its length.
pub fn attempts_query(request: &HttpRequest) -> Result<(Option<i64>, u16), ApiError> {
    let endpoint = Endpoint::Webhooks(WebhookCall::Attempts);
    let fields = fields_of(request.query_string(), endpoint)?;
    let cursor = fields.optional_text("cursor", SHORT_TEXT_MAX)?;
    let before = cursor.map(|cursor| {
        let digits = Some(&cursor).filter(|cursor| cursor.bytes().all(|byte| byte.is_ascii_digit()));
        digits
            .and_then(|cursor| cursor.parse().ok())
            .ok_or_else(|| ApiError::new(Detail::BadCursor).about("cursor"))
    });
    Ok((before.transpose()?, page_length(&fields, ATTEMPTS_MAX)?.unwrap_or(ATTEMPTS_DEFAULT)))
}
