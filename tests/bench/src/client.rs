//! A minimal client that keeps its connection. It must be cheap, because it runs on the same cores as the server.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One connection to the server.
pub struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

/// An answer of the server.
pub struct Answer {
    pub status: u16,
    pub body: String,
    /// Whether the server closes the connection after it.
    pub closes: bool,
}

impl Client {
    pub async fn connect(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::with_capacity(4_096) })
    }

    /// Sends a request and reads its answer. The head of the answer must have `Content-Length`.
    pub async fn exchange(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.stream.write_all(request).await?;
        self.received.clear();
        loop {
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(answer) = whole_answer(&self.received) {
                return Ok(answer);
            }
        }
    }
}

fn whole_answer(received: &[u8]) -> Option<Answer> {
    let text = std::str::from_utf8(received).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length: usize = head.lines().find_map(content_length)?.parse().ok()?;
    let closes = head.lines().any(|line| line.eq_ignore_ascii_case("connection: close"));
    (body.len() >= length).then(|| Answer { status, body: body.to_owned(), closes })
}

fn content_length(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(':')?;
    name.eq_ignore_ascii_case("content-length").then_some(value.trim())
}

/// The bytes of a request: its method and path, its own headers, each with its line end, and its body.
pub fn request(target: &str, address: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("{target} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

/// The host and the port of a URL without a path.
pub fn address_of(url: &str) -> &str {
    url.trim_start_matches("http://")
}

/// The text of a field of a flat JSON object.
pub fn json_text(body: &str, field: &str) -> Option<String> {
    let body: serde_json::Value = serde_json::from_str(body).ok()?;
    body.get(field)?.as_str().map(str::to_owned)
}
