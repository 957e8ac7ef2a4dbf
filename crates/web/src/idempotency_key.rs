//! The header that allows an integrator to send a confirm again, and the header that marks a repeated answer.

use actix_web::{HttpRequest, http::header::HeaderName};

use messages::Detail;
use purchase::IdempotencyKey;

use crate::ApiError;

/// On every final answer that was given before, to an earlier request with the same key.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The name of the header in errors about it.
pub(crate) const PARAM: &str = "idempotency_key";

/// The beginning of the keys under which the service buys the lines of batches.
const RESERVED: &str = "vendgate:";

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// The key of a request, if it carries one.
///
/// # Errors
/// `invalid_argument` about `idempotency_key`, unless the header has 1 to 128 visible ASCII characters, appears once, and does not begin
/// like a key of the service itself.
pub fn idempotency_key(request: &HttpRequest) -> Result<Option<IdempotencyKey>, ApiError> {
    let refused =
        || ApiError::new(Detail::BadIdempotencyKey).about(PARAM).with("limit", IdempotencyKey::LENGTH_MAX);
    let mut given = request.headers().get_all(HEADER);
    let Some(key) = given.next() else { return Ok(None) };
    if given.next().is_some() {
        return Err(refused());
    }
    let text = key.to_str().map_err(|invisible| refused().because(invisible))?;
    if text.starts_with(RESERVED) {
        return Err(ApiError::new(Detail::ReservedIdempotencyKey).about(PARAM).with("prefix", RESERVED));
    }
    IdempotencyKey::parse(text).map(Some).map_err(|why| refused().because(why))
}

#[cfg(test)]
mod tests {
    use actix_web::{http::header::HeaderValue, test::TestRequest};

    use super::*;

    fn read(values: &[&[u8]]) -> Result<Option<String>, (String, Option<String>)> {
        let request = values.iter().fold(TestRequest::post(), |request, value| {
            request.append_header((HEADER, HeaderValue::from_bytes(value).unwrap()))
        });
        let key = idempotency_key(&request.to_http_request());
        key.map(|key| key.map(|key| key.to_string()))
            .map_err(|error| (error.code().to_string(), error.param().map(str::to_owned)))
    }

    #[test]
    fn a_key_is_optional_and_read_as_it_was_written() {
        assert_eq!(read(&[]), Ok(None));
        for key in ["a", "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"", &"k".repeat(128)] {
            assert_eq!(read(&[key.as_bytes()]), Ok(Some(key.to_owned())));
        }
    }

    #[test]
    fn a_key_that_is_none_is_refused_by_name() {
        let refused = Err(("invalid_argument".to_owned(), Some("idempotency_key".to_owned())));
        let too_long = "k".repeat(129);
        for values in [
            &[&b""[..]][..],
            &[too_long.as_bytes()],
            &[b"two words"],
            &[b"tab\there"],
            &[b"cl\xc3\xa9"],
            &[b"one", b"two"],
            &[b"one", b"one"],
        ] {
            assert_eq!(read(values), refused, "{values:?}");
        }
    }
}
