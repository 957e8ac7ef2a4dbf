//! Queries. They are read as strictly as bodies: a repeated parameter or an empty value is refused, because it could
//! widen a search unnoticed. Unknown parameters are refused before a handler is called.

use actix_web::web::Query;
use error_codes::ErrorCode;
use web::{ApiError, Detail, Fields, printable};

use super::limits::SHORT_TEXT_MAX;
use crate::Endpoint;

/// Refuses a query with a parameter that the endpoint does not have, by its name.
pub fn known_parameters(query: &str, endpoint: Endpoint) -> Result<(), ApiError> {
    let known = endpoint.query_parameters();
    // Almost every query is right and has no escapes in its names. It needs no copy of its parts.
    let mut written = query.split('&').filter(|part| !part.is_empty());
    if written.all(|part| known.contains(&part.split('=').next().unwrap_or_default())) {
        return Ok(());
    }
    let pairs = pairs(query)?;
    let Some((unknown, _)) = pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    let detail = if known.is_empty() { Detail::NoParameters } else { Detail::UnknownParameter };
    Err(ApiError::new(detail).about(printable(unknown)).with("allowed", known.join(", ")))
}

/// The query of a request of this endpoint as the members of an object, so that one reader serves queries and bodies.
pub(super) fn fields_of(query: &str, endpoint: Endpoint) -> Result<Fields, ApiError> {
    let known = endpoint.query_parameters();
    let mut members = Vec::new();
    for (name, value) in pairs(query)? {
        let Some(known) = known.iter().copied().find(|known| *known == name) else { continue };
        if value.is_empty() {
            return Err(ApiError::new(Detail::Empty).about(known));
        }
        members.push(format!("\"{known}\":{}", serde_json::Value::from(value.as_str())));
    }
    Fields::parse(format!("{{{}}}", members.join(",")).as_bytes())
}

/// The names and values of a query, with escapes decoded.
fn pairs(query: &str) -> Result<Vec<(String, String)>, ApiError> {
    let pairs = Query::<Vec<(String, String)>>::from_query(query)
        .map_err(|malformed| ApiError::new(ErrorCode::InvalidArgument).because(malformed.to_string()))?;
    Ok(pairs.into_inner())
}

/// The parameter `limit`, from 1 to `max`.
pub(super) fn page_length(fields: &Fields, max: u16) -> Result<Option<u16>, ApiError> {
    whole_number(fields, "limit", max)
}

/// A parameter that is a whole number from 1 to `max`.
pub(super) fn whole_number(fields: &Fields, name: &'static str, max: u16) -> Result<Option<u16>, ApiError> {
    let Some(text) = fields.optional_text(name, SHORT_TEXT_MAX)? else { return Ok(None) };
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok()).filter(|number| (1..=max).contains(number));
    number.map(Some).ok_or_else(|| ApiError::new(Detail::OutOfRange).about(name).with("limit", max))
}
