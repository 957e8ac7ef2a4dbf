//! The id of a request, in every answer and every log line about it.

use std::fmt;

use actix_web::http::header::{HeaderName, HeaderValue};

/// The header that carries it, in requests and answers (specification, section 4.3).
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

const LENGTH_MAX: usize = 128;

/// The integrator's own id of the request, or ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    /// The given id, if it has 1 to 128 visible ASCII characters or blanks between such. Otherwise a random one.
    pub fn accept_or_generate(given: Option<&HeaderValue>) -> Self {
        given.and_then(Self::accept).unwrap_or_else(Self::generate)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn header_value(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).expect("a request id is printable ASCII")
    }

    fn accept(given: &HeaderValue) -> Option<Self> {
        let bytes = given.as_bytes();
        let printable = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
        let ends = [bytes.first(), bytes.last()];
        let fits = (1..=LENGTH_MAX).contains(&bytes.len())
            && bytes.iter().all(printable)
            && ends.into_iter().flatten().all(u8::is_ascii_graphic);
        fits.then(|| Self(bytes.iter().copied().map(char::from).collect()))
    }

    fn generate() -> Self {
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).expect("the system has a source of randomness");
        Self(format!("{:032x}", u128::from_be_bytes(random)))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_for(given: &[u8]) -> String {
        let value = HeaderValue::from_bytes(given).unwrap();
        RequestId::accept_or_generate(Some(&value)).as_str().to_owned()
    }

    #[test]
    fn a_visible_ascii_name_is_echoed_and_may_have_blanks_in_it() {
        for name in ["a", "ORDER-42/7:x~", "two words", "till 7,  sale 3", &"x".repeat(128)] {
            assert_eq!(id_for(name.as_bytes()), name);
        }
    }

    #[test]
    fn any_other_name_is_replaced_by_a_random_one() {
        for name in
            [&b""[..], b" ", b" ends", b"ends ", b"\xff\xfe", b"tab\there", "x".repeat(129).as_bytes()]
        {
            let id = id_for(name);
            assert_eq!(id.len(), 32, "{name:?}");
            assert_ne!(id, id_for(name));
        }
    }
}
