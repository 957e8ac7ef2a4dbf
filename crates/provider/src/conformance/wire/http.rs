//! The small part of HTTP/1.1 that a wire must understand: where a message ends.

use std::io::{self, Read};

/// The maximum size of a request. No adapter sends more.
const REQUEST_BYTES_MAX: usize = 1024 * 1024;

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// A request from an adapter.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The request line, such as `POST /vend HTTP/1.1`.
    pub line: &'a str,
    /// The body as text. Empty if the body is not UTF-8.
    pub body: &'a str,
}

/// The answer of a simulator in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// A complete request, to be forwarded.
pub(super) struct Received {
    head: String,
    body: Vec<u8>,
}

impl Received {
    /// Reads a complete request. `None` if the connection ends before, or if the request is too large.
    pub(super) fn read(stream: &mut impl Read) -> io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            if let Some((head, body)) = split(&bytes) {
                let head = String::from_utf8_lossy(head).into_owned();
                let length = header(&head, "content-length").and_then(|length| length.parse().ok());
                if body.len() >= length.unwrap_or(0) {
                    let body = body.to_vec();
                    return Ok(Some(Self { head, body }));
                }
            }
            let read = stream.read(&mut chunk)?;
            if read == 0 || bytes.len() > REQUEST_BYTES_MAX {
                return Ok(None);
            }
            bytes.extend_from_slice(chunk.get(..read).unwrap_or_default());
        }
    }

    pub(super) fn request(&self) -> Request<'_> {
        let line = self.head.lines().next().unwrap_or_default();
        Request { line, body: std::str::from_utf8(&self.body).unwrap_or_default() }
    }

    /// The path, such as `/vend`.
    pub(super) fn path(&self) -> &str {
        self.request().line.split(' ').nth(1).unwrap_or("/")
    }

    /// The bytes to forward. The server must close the connection. If `is_plain`, it must not compress the answer.
    pub(super) fn to_bytes(&self, is_plain: bool) -> Vec<u8> {
        let is_sent = |line: &&str| {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            name != "connection" && !(is_plain && name == "accept-encoding")
        };
        let mut bytes: Vec<u8> =
            self.head.lines().filter(is_sent).flat_map(|line| format!("{line}\r\n").into_bytes()).collect();
        bytes.extend_from_slice(b"Connection: close\r\n\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

impl Answer {
    /// The status HTTP 200 with this body.
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, body: body.into() }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let head = format!(
            "HTTP/1.1 {} Answer\r\nContent-Length: {}\r\nConnection: close",
            self.status,
            self.body.len()
        );
        [head.as_bytes(), END_OF_HEAD, &self.body].concat()
    }
}

/// The same answer with another status.
pub(super) fn with_status(reply: &[u8], status: u16) -> Vec<u8> {
    let rest = reply.iter().position(|byte| *byte == b'\n').and_then(|end| reply.get(end..));
    [format!("HTTP/1.1 {status} Status\r").as_bytes(), rest.unwrap_or_default()].concat()
}

/// The same answer with a rewritten body.
pub(super) fn rewritten(reply: &[u8], change: impl FnOnce(&str) -> String) -> Vec<u8> {
    let Some((head, body)) = split(reply) else { return reply.to_vec() };
    let body = change(&String::from_utf8_lossy(body));
    let head = String::from_utf8_lossy(head).into_owned();
    let is_kept = |line: &&str| !line.to_ascii_lowercase().starts_with("content-length:");
    let length = format!("Content-Length: {}", body.len());
    let lines: Vec<&str> = head.lines().filter(is_kept).chain([length.as_str(), "", body.as_str()]).collect();
    lines.join("\r\n").into_bytes()
}

fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD)?;
    Some((bytes.get(..end)?, bytes.get(end.saturating_add(END_OF_HEAD.len())..)?))
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let pairs = head.lines().filter_map(|line| line.split_once(':'));
    pairs.filter(|(key, _value)| key.eq_ignore_ascii_case(name)).map(|(_key, value)| value.trim()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_complete_when_its_body_is_complete() {
        let whole = b"POST /vend HTTP/1.1\r\nContent-Length: 5\r\nconnection: keep-alive\r\nAccept-Encoding: gzip\r\n\r\norder";
        let received = Received::read(&mut whole.as_slice()).unwrap().unwrap();
        assert_eq!((received.request().line, received.request().body), ("POST /vend HTTP/1.1", "order"));
        assert_eq!(received.path(), "/vend");
        assert!(Received::read(&mut &whole[..whole.len() - 1]).unwrap().is_none());
        let sent = String::from_utf8(received.to_bytes(true)).unwrap();
        assert_eq!(sent, "POST /vend HTTP/1.1\r\nContent-Length: 5\r\nConnection: close\r\n\r\norder");
        assert!(String::from_utf8(received.to_bytes(false)).unwrap().contains("Accept-Encoding: gzip"));
    }

    #[test]
    fn an_answer_gets_another_status_or_another_body() {
        let answer = Answer::ok("yes").to_bytes();
        let failed = String::from_utf8(with_status(&answer, 500)).unwrap();
        assert!(failed.starts_with("HTTP/1.1 500 Status\r\nContent-Length: 3\r\n"), "{failed}");
        let other = String::from_utf8(rewritten(&answer, |body| body.repeat(2))).unwrap();
        assert!(other.ends_with("Content-Length: 6\r\n\r\nyesyes"), "{other}");
    }
}
