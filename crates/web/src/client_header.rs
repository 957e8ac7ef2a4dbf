//! What the `Authorization` header of a refresh says about the client: HTTP Basic (RFC 6749, section 2.3.1; RFC 7617),
//! or a bearer token of the session that is to be refreshed.

use actix_web::{HttpRequest, http::header::AUTHORIZATION};
use base64::{Engine, prelude::BASE64_STANDARD};
use percent_encoding::percent_decode_str;

/// The part of the header that can prove a client. It has no `Debug`, because it holds secrets.
pub enum ClientHeader {
    /// There is no header, or its scheme proves no client.
    Absent,
    /// A name and a secret.
    Basic {
        /// The client's name.
        client_id: String,
        /// Its secret.
        client_secret: String,
    },
    /// A header that begins as Basic does and cannot be decoded.
    MalformedBasic,
    /// An access token.
    Bearer(String),
}

impl ClientHeader {
    /// The header of this request.
    pub fn of(request: &HttpRequest) -> Self {
        let text = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some((scheme, credentials)) = text.and_then(|text| text.split_once(' ')) else {
            return Self::Absent;
        };
        let credentials = credentials.trim_start();
        if scheme.eq_ignore_ascii_case("basic") {
            basic(credentials).unwrap_or(Self::MalformedBasic)
        } else if scheme.eq_ignore_ascii_case("bearer") {
            Self::Bearer(credentials.to_owned())
        } else {
            Self::Absent
        }
    }

    /// Whether a refusal must ask for Basic again (RFC 6749, section 5.2).
    pub(crate) const fn is_basic(&self) -> bool {
        match self {
            Self::Basic { .. } | Self::MalformedBasic => true,
            Self::Absent | Self::Bearer(_) => false,
        }
    }
}

fn basic(credentials: &str) -> Option<ClientHeader> {
    let pair = String::from_utf8(BASE64_STANDARD.decode(credentials).ok()?).ok()?;
    let (client_id, client_secret) = pair.split_once(':')?;
    let (client_id, client_secret) = (form_decoded(client_id)?, form_decoded(client_secret)?);
    Some(ClientHeader::Basic { client_id, client_secret })
}

/// Both parts are form-encoded before they are joined (RFC 6749, appendix B).
fn form_decoded(text: &str) -> Option<String> {
    percent_decode_str(&text.replace('+', " ")).decode_utf8().ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    /// One line: the scheme, and what was found in the header.
    fn found(header: &str) -> String {
        let request = TestRequest::post().insert_header(("Authorization", header)).to_http_request();
        match ClientHeader::of(&request) {
            ClientHeader::Absent => "absent".to_owned(),
            ClientHeader::Basic { client_id, client_secret } => format!("basic {client_id} {client_secret}"),
            ClientHeader::MalformedBasic => "malformed".to_owned(),
            ClientHeader::Bearer(token) => format!("bearer {token}"),
        }
    }

    #[test]
    fn a_client_is_read_from_the_header_whatever_the_case_of_its_scheme() {
        let basic = |pair: &str| format!("Basic {}", BASE64_STANDARD.encode(pair));
        for (header, expected) in [
            (basic("vg_test_1:vg_test_cs_x"), "basic vg_test_1 vg_test_cs_x"),
            (basic("a:b:c"), "basic a b:c"),
            (basic("a%20b:c%2Bd+e"), "basic a b c+d e"),
            (basic(":"), "basic  "),
            (basic("no colon"), "malformed"),
            ("basic !!!".to_owned(), "malformed"),
            ("BASIC".to_owned(), "absent"),
            ("Bearer  vg_test_at_x".to_owned(), "bearer vg_test_at_x"),
            ("bearer x".to_owned(), "bearer x"),
            ("Digest x".to_owned(), "absent"),
            (String::new(), "absent"),
        ] {
            assert_eq!(found(&header), expected, "{header:?}");
        }
    }
}
