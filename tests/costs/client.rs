//! A client that allocates nothing while a request is answered, so that only the server's allocations are counted.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

/// Longer than any answer of this test.
const ANSWER_MAX: usize = 1 << 20;

/// One connection to the server.
pub struct Client {
    stream: TcpStream,
    address: String,
    buffer: Vec<u8>,
}

impl Client {
    pub fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, address: address.to_owned(), buffer: vec![0; ANSWER_MAX] }
    }

    /// The bytes of a request.
    pub fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
        let (address, length) = (&self.address, body.len());
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{headers}\r\n{body}"
        )
        .into_bytes()
    }

    /// Sends a request and reads its whole answer, which must be a success with a `Content-Length`. Returns its body.
    pub fn exchange(&mut self, request: &[u8]) -> &[u8] {
        self.stream.write_all(request).unwrap();
        let mut length = 0;
        loop {
            length += self.stream.read(self.buffer.get_mut(length..).unwrap()).unwrap();
            let answer = self.buffer.get(..length).unwrap();
            if let Some(body_at) = body_of_whole(answer) {
                let answer = self.buffer.get(..length).unwrap();
                let is_success = answer.starts_with(b"HTTP/1.1 200");
                assert!(is_success, "{}", String::from_utf8_lossy(answer));
                return answer.get(body_at..).unwrap();
            }
        }
    }
}

/// Where the body begins, once the answer is complete.
fn body_of_whole(answer: &[u8]) -> Option<usize> {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let head = std::str::from_utf8(answer.get(..end)?).ok()?;
    let length: usize = head.lines().find_map(content_length)?.parse().ok()?;
    (answer.len() >= end + 4 + length).then_some(end + 4)
}

fn content_length(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(':')?;
    name.eq_ignore_ascii_case("content-length").then_some(value.trim())
}
