//! A receiver of webhooks, as good or as bad as a test wants it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// One request as it was received.
#[derive(Clone, Debug)]
pub struct Received {
    pub id: String,
    pub timestamp: i64,
    pub signature: String,
    pub body: Vec<u8>,
}

/// How a receiver answers a request.
#[derive(Clone, Copy, Debug)]
pub enum Manner {
    /// With this status.
    Status(u16),
    /// With 200 after this time.
    After(Duration),
    /// Never.
    Silent,
    /// By a reset of the connection.
    Reset,
    /// By a redirect to itself.
    Redirect,
    /// With 200 and a body without an end.
    Endless,
}

/// A running receiver.
#[derive(Clone)]
pub struct Receiver {
    pub url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Received {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The number that the test gave to the event.
    pub fn number(&self) -> i64 {
        self.json()["data"]["n"].as_i64().unwrap()
    }
}

impl Receiver {
    /// A receiver that answers each request as `manner` says of it.
    pub async fn start(manner: impl Fn(&Received) -> Manner + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let receiver = Self { url: url.clone(), received: Arc::default() };
        let (log, manner) = (receiver.received.clone(), Arc::new(manner));
        tokio::spawn(async move {
            while let Ok((stream, _peer)) = listener.accept().await {
                let (log, manner, url) = (log.clone(), manner.clone(), url.clone());
                tokio::spawn(async move { serve(stream, &log, &*manner, &url).await });
            }
        });
        receiver
    }

    pub async fn good() -> Self {
        Self::start(|_| Manner::Status(204)).await
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    pub fn numbers(&self) -> Vec<i64> {
        self.received().iter().map(Received::number).collect()
    }
}

/// Serves the requests of one connection.
async fn serve(
    stream: TcpStream,
    received: &Mutex<Vec<Received>>,
    manner: &(dyn Fn(&Received) -> Manner + Send + Sync),
    url: &str,
) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await {
        received.lock().unwrap().push(request.clone());
        let answer = match manner(&request) {
            Manner::Status(status) => format!("HTTP/1.1 {status} So\r\nContent-Length: 0\r\n\r\n"),
            Manner::After(time) => {
                tokio::time::sleep(time).await;
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned()
            }
            Manner::Silent => return std::future::pending().await,
            Manner::Reset => return,
            Manner::Redirect => format!("HTTP/1.1 307 There\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n"),
            Manner::Endless => {
                let mut chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
                while stream.get_mut().write_all(chunk.as_bytes()).await.is_ok() {
                    chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
                }
                return;
            }
        };
        if stream.get_mut().write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut request =
        Received { id: String::new(), timestamp: 0, signature: String::new(), body: Vec::new() };
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            if line == "\r\n" {
                break;
            }
            continue;
        };
        match name {
            "webhook-id" => request.id = value.to_owned(),
            "webhook-timestamp" => request.timestamp = value.parse().unwrap(),
            "webhook-signature" => request.signature = value.to_owned(),
            "content-length" => length = value.parse().unwrap(),
            _other => {}
        }
    }
    request.body.resize(length, 0);
    stream.read_exact(&mut request.body).await.ok()?;
    Some(request)
}
