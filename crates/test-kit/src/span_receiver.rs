//! A receiver of spans, in place of a collector: it keeps what programs send it, or it misbehaves.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// A receiver on loopback. It exists until the process ends.
#[derive(Clone, Debug)]
pub struct SpanReceiver {
    /// The whole address that takes spans.
    pub endpoint: String,
    requests: Arc<Mutex<Vec<Received>>>,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Received {
    /// The lines before the body.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

/// What the receiver does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It answers with this status.
    Answers(u16),
    /// It never answers.
    Hangs,
}

impl SpanReceiver {
    /// Opens a receiver that accepts everything.
    ///
    /// # Errors
    /// When no port on loopback can be opened.
    pub fn open() -> io::Result<Self> {
        Self::open_with(|_before| Manner::Answers(200))
    }

    /// Opens a receiver whose manner depends on the number of requests before.
    ///
    /// # Errors
    /// When no port on loopback can be opened.
    pub fn open_with(manner: impl Fn(usize) -> Manner + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let endpoint = format!("http://{}/v1/traces", listener.local_addr()?);
        let receiver = Self { endpoint, requests: Arc::default() };
        let (served, manner) = (receiver.clone(), Arc::new(manner));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (served, manner) = (served.clone(), Arc::clone(&manner));
                // A sender that is killed cuts its connection.
                thread::spawn(move || served.serve(client, manner.as_ref()).is_ok());
            }
        });
        Ok(receiver)
    }

    /// All requests so far, in the order of their arrival.
    pub fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn serve(&self, mut client: TcpStream, manner: &dyn Fn(usize) -> Manner) -> io::Result<()> {
        let mut reader = BufReader::new(client.try_clone()?);
        loop {
            let received = read(&mut reader)?;
            let before = {
                let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
                requests.push(received);
                requests.len() - 1
            };
            match manner(before) {
                Manner::Answers(status) => {
                    let answer = format!("HTTP/1.1 {status} Told\r\nContent-Length: 2\r\n\r\n{{}}");
                    client.write_all(answer.as_bytes())?;
                }
                // Until the sender gives up.
                Manner::Hangs => return io::copy(&mut reader, &mut io::sink()).map(drop),
            }
        }
    }
}

/// One request with its body.
pub(crate) fn read(reader: &mut impl BufRead) -> io::Result<Received> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let lower = head.to_ascii_lowercase();
    let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
    let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or_default()];
    reader.read_exact(&mut body)?;
    Ok(Received { head, body })
}
