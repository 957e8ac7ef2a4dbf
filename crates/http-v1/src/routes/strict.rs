//! Refuses what would be ignored: query parameters that an endpoint does not have, and bodies of another media type.

use actix_web::{
    dev::RequestHead,
    http::{Method, header::CONTENT_TYPE},
};

use web::{ApiError, Detail};

use crate::{BatchCall, Endpoint, requests::known_parameters};

/// The media type of a body. A body without a media type is read as this one.
const JSON: &str = "application/json";

/// The media type of a table, which only a batch may be.
const CSV: &str = "text/csv";

const JSON_OR_CSV: &str = "application/json, text/csv";

/// Checks a request of this endpoint. This comes before the caller is authenticated, because such a request is wrong for
/// every caller. It costs a right request no allocation.
pub(super) fn checked(endpoint: Endpoint, head: &RequestHead) -> Result<(), ApiError> {
    let query = head.uri.query().unwrap_or_default();
    if !query.is_empty() {
        known_parameters(query, endpoint)?;
    }
    if endpoint.method() == Method::POST { of_known_type(head, endpoint) } else { Ok(()) }
}

fn of_known_type(head: &RequestHead, endpoint: Endpoint) -> Result<(), ApiError> {
    let takes_tables = endpoint == Endpoint::Batches(BatchCall::Create);
    let is_known = |media_type: &str| is_json(media_type) || takes_tables && is_csv(media_type);
    let mut named = head.headers().get_all(CONTENT_TYPE);
    let (first, second) = (named.next(), named.next());
    match first {
        None => Ok(()),
        Some(value) if second.is_none() && value.to_str().is_ok_and(is_known) => Ok(()),
        Some(_) => {
            let allowed = if takes_tables { JSON_OR_CSV } else { JSON };
            Err(ApiError::new(Detail::BadMediaType).about("Content-Type").with("allowed", allowed))
        }
    }
}

/// `application/json`, with parameters or without. JSON has one encoding (RFC 8259, section 8.1).
fn is_json(media_type: &str) -> bool {
    is_in_utf_8(media_type, JSON)
}

/// `text/csv` in UTF-8, which is its default (RFC 7111, section 5.1).
pub(crate) fn is_csv(media_type: &str) -> bool {
    is_in_utf_8(media_type, CSV)
}

fn is_in_utf_8(media_type: &str, essence: &str) -> bool {
    let mut parts = media_type.split(';').map(str::trim);
    let is_so = parts.next().is_some_and(|named| named.eq_ignore_ascii_case(essence));
    let charsets = parts.filter_map(|parameter| parameter.split_once('='));
    is_so
        && charsets
            .filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
            .all(|(_, value)| value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_known_by_its_media_type_and_has_one_charset() {
        for json in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""]
        {
            assert!(is_json(json), "{json}");
        }
        for other in [
            "",
            "application/x-www-form-urlencoded",
            "text/json",
            "application/json5",
            "application/json, text/plain",
            "application/json; charset=latin1",
        ] {
            assert!(!is_json(other), "{other}");
        }
    }
}
