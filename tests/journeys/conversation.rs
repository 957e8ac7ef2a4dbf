//! Raw bytes to and from a server, which no HTTP client would send.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use clock::{Clock, SystemClock};
use sandbox::Process;

/// Longer than anything here takes, on a very busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A raw connection to a server.
pub struct Conversation(TcpStream);

impl Conversation {
    pub fn beginning_with(server: &Process, request: impl AsRef<[u8]>) -> Self {
        let mut connection = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        // A server that has read enough may close before it has read all.
        let _all_or_part = connection.write_all(request.as_ref());
        Self(connection)
    }

    pub fn reads_until(mut self, word: &str) -> String {
        let (mut heard, mut some) = (Vec::new(), [0; 4096]);
        while !String::from_utf8_lossy(&heard).contains(word) {
            match self.0.read(&mut some) {
                Ok(0) | Err(_) => break,
                Ok(length) => heard.extend_from_slice(&some[..length]),
            }
        }
        String::from_utf8(heard).unwrap()
    }

    /// Reads until the server closes, or resets a connection that it has not fully read.
    pub fn reads_to_its_end(mut self) -> String {
        let (mut heard, began) = (Vec::new(), SystemClock.monotonic());
        let _end_or_reset = self.0.read_to_end(&mut heard);
        assert!(SystemClock.monotonic().elapsed_since(began) < PATIENCE, "the server does not close");
        String::from_utf8(heard).unwrap()
    }
}
