//! What can be wrong with a request head, and the stand-in request that replaces it.

use actix_web::http::{
    Uri,
    header::{ACCEPT_LANGUAGE, HeaderMap, HeaderName},
};

use messages::Detail;

use crate::{ApiError, SharedState, limits::FORWARDED_FOR, request_id};

/// What is wrong with a request head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokenHead {
    /// It is not HTTP/1.1, or contradicts itself.
    Unreadable,
    /// A line ends with a line feed alone (RFC 9112, section 2.2, lets a recipient refuse it).
    BareLineFeed,
    /// It is larger than the limit, or it has too many fields.
    TooLarge,
    /// It did not arrive in time.
    TooSlow,
}

/// The header field that only a stand-in has. A head in which a client sends it is broken.
pub(super) const MARK: HeaderName = HeaderName::from_static("vendgate-broken-head");

/// Longer addresses and values are not kept for an error answer.
const KEPT_BYTES_MAX: usize = 1_024;

/// How many forwarded addresses are kept: the last ones, which our own proxies have written. With too many fields, the
/// server could not read the stand-in either.
const FORWARDED_MAX: usize = 8;

impl BrokenHead {
    const ALL: [Self; 4] = [Self::Unreadable, Self::BareLineFeed, Self::TooLarge, Self::TooSlow];

    /// The reason that a stand-in carries; `None` for every other request.
    pub(crate) fn from_mark(headers: &HeaderMap) -> Option<Self> {
        let mark = headers.get(&MARK)?;
        Self::ALL.into_iter().find(|broken| mark.as_bytes() == broken.name().as_bytes())
    }

    pub(crate) fn error(self, shared: &SharedState) -> ApiError {
        let error = match self {
            Self::Unreadable => ApiError::new(Detail::HeadBroken),
            Self::BareLineFeed => ApiError::new(Detail::BareLineFeed),
            Self::TooLarge => ApiError::new(Detail::HeadTooLarge).with("limit", shared.head_bytes_max),
            Self::TooSlow => ApiError::new(Detail::HeadTooSlow),
        };
        error.closing_the_connection()
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::BareLineFeed => "bare-line-feed",
            Self::TooLarge => "too-large",
            Self::TooSlow => "too-slow",
        }
    }

    /// A complete request that is refused for this reason. It keeps the parts of the broken head on which an error
    /// answer depends, where they are readable: the path, the request id, the language, and the addresses that it was
    /// forwarded for.
    pub(super) fn stand_in(self, broken: &[u8]) -> Vec<u8> {
        let mut lines = whole_lines(broken);
        let path = lines.next().and_then(path_of).unwrap_or("/");
        let mut head =
            format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{MARK}: {}\r\n", self.name());
        // What follows an empty line is the body, which is ignored.
        let fields: Vec<(&str, &str)> =
            lines.take_while(|line| !line.is_empty()).filter_map(field_of).collect();
        let all = |wanted: &str| -> Vec<(&str, &str)> {
            fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).copied().collect()
        };
        let (named, languages) = (all(request_id::HEADER.as_str()), all(ACCEPT_LANGUAGE.as_str()));
        let forwarded = all(FORWARDED_FOR);
        let last = forwarded.iter().skip(forwarded.len().saturating_sub(FORWARDED_MAX));
        for (name, value) in named.iter().take(1).chain(languages.iter().take(1)).chain(last) {
            head.extend([*name, ": ", *value, "\r\n"]);
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

/// The lines of a head that have arrived completely, whatever their line ending is.
fn whole_lines(head: &[u8]) -> impl Iterator<Item = &str> {
    /// Replaces a line that cannot be read. It is not empty, because an empty line ends a head.
    const UNREADABLE: &str = "?";
    let lines = head.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    lines
        .map(|line| str::from_utf8(line.trim_ascii()).unwrap_or(UNREADABLE))
        .skip_while(|line| line.is_empty())
}

/// The path of a request line, without its query.
fn path_of(line: &str) -> Option<&str> {
    let target = line.split(' ').nth(1)?.split('?').next()?;
    let is_path = target.starts_with('/') && target.len() <= KEPT_BYTES_MAX;
    (is_path && target.bytes().all(|byte| byte.is_ascii_graphic()) && target.parse::<Uri>().is_ok())
        .then_some(target)
}

fn field_of(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let value = value.trim();
    let is_plain = value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    (is_plain && value.len() <= KEPT_BYTES_MAX).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stand_in(broken: &str) -> String {
        String::from_utf8(BrokenHead::BareLineFeed.stand_in(broken.as_bytes())).unwrap()
    }

    #[test]
    fn a_stand_in_keeps_what_the_answer_depends_on() {
        let broken = "POST /auth/login?x=1 HTTP/1.1\nHost: x\nX-Request-Id: till 7\nAuthorization: Bearer secret\n\
                      X-Request-ID: other\naccept-language: fr\nX-Forwarded-For: 192.0.2.1\nX-Forwarded-For: 10.0.0.1\n\n";
        assert_eq!(
            stand_in(broken),
            "GET /auth/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nvendgate-broken-head: bare-line-feed\r\n\
             X-Request-Id: till 7\r\naccept-language: fr\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n"
        );
    }

    #[test]
    fn what_stands_behind_the_head_is_no_part_of_it() {
        let unreadable = b"GET / HTTP/1.1\nX-Name: \xff\nX-Forwarded-For: 192.0.2.9\n\n";
        let kept = String::from_utf8(BrokenHead::BareLineFeed.stand_in(unreadable)).unwrap();
        assert!(kept.contains("192.0.2.9"), "a line that cannot be read does not end a head: {kept}");
        let broken = "POST / HTTP/1.1\nHost: x\n\nX-Forwarded-For: 192.0.2.9\nX-Request-Id: of the body\n";
        assert!(!stand_in(broken).contains("192.0.2.9"));
        assert!(!stand_in(broken).contains("of the body"));
    }

    #[test]
    fn of_many_fields_a_stand_in_keeps_few_and_of_addresses_the_last() {
        let pair = |n| format!("X-Forwarded-For: 10.0.0.{n}\nAccept-Language: x{n}\n");
        let many = (0..200).map(pair).collect::<Vec<_>>().concat();
        let kept = stand_in(&format!("GET / HTTP/1.1\n{many}\n"));
        assert_eq!(kept.lines().count(), 4 + 1 + FORWARDED_MAX + 1, "{kept}");
        assert!(kept.contains("Accept-Language: x0\r\n"), "{kept}");
        assert!(
            kept.ends_with("X-Forwarded-For: 10.0.0.198\r\nX-Forwarded-For: 10.0.0.199\r\n\r\n"),
            "{kept}"
        );
    }

    #[test]
    fn what_cannot_be_kept_is_left_out() {
        let nothing =
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nvendgate-broken-head: bare-line-feed\r\n\r\n";
        let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(2_000));
        for broken in [
            "",
            "\r\n\n",
            "\u{16}\u{3}\u{1}",
            "GET",
            "GET /unfinished HTTP/1.1",
            "GET http://elsewhere/path HTTP/1.1\r\n",
            "GET /\u{1b}[2J HTTP/1.1\r\n",
            "x\r\nX-Request-Id: t\u{7}\r\nX-Request-Id: unfinished",
            &long,
        ] {
            assert_eq!(stand_in(broken), nothing, "{broken:?}");
        }
    }
}
