//! A scripted gateway: it accepts connections and sends exactly the bytes that a test needs.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the gateway does with every connection.
#[derive(Clone)]
pub enum Does {
    /// Closes it without reading.
    Closes,
    /// Reads one request and closes.
    ReadsAndCloses,
    /// Reads one request, sends this, and closes.
    Answers(Vec<u8>),
    /// Reads one request and never answers.
    IsSilent,
    /// Reads one request, then sends this slowly, byte by byte.
    Drips(Vec<u8>),
    /// Sends this before it reads anything, then reads.
    AnswersUnasked(Vec<u8>),
    /// Answers every request on the connection, and keeps it open.
    Serves(Vec<u8>),
}

pub struct Gateway {
    pub endpoint: String,
    connections: Arc<AtomicUsize>,
    received: Arc<Mutex<Vec<u8>>>,
}

impl Gateway {
    pub async fn that(does: Does) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/xmlvend", listener.local_addr().unwrap());
        let gateway = Self { endpoint, connections: Arc::default(), received: Arc::default() };
        let (connections, received) = (Arc::clone(&gateway.connections), Arc::clone(&gateway.received));
        tokio::spawn(async move {
            while let Ok((stream, _peer)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(handle(stream, does.clone(), Arc::clone(&received)));
            }
        });
        gateway
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn received(&self) -> String {
        String::from_utf8(self.received.lock().unwrap().clone()).unwrap()
    }
}

/// An HTTP answer with this status, such as `200 OK`, and a `Content-Length`.
pub fn http(status: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub fn compressed(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

async fn handle(mut stream: TcpStream, does: Does, received: Arc<Mutex<Vec<u8>>>) {
    match does {
        Does::Closes => {}
        Does::ReadsAndCloses => read_request(&mut stream, &received).await,
        Does::Answers(answer) => {
            read_request(&mut stream, &received).await;
            let _gone = stream.write_all(&answer).await;
            let _gone = stream.shutdown().await;
        }
        Does::IsSilent => {
            read_request(&mut stream, &received).await;
            let _until_the_other_side_closes = stream.read(&mut [0]).await;
        }
        Does::Drips(answer) => {
            read_request(&mut stream, &received).await;
            for byte in answer {
                if stream.write_all(&[byte]).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Does::AnswersUnasked(answer) => {
            let _gone = stream.write_all(&answer).await;
            read_request(&mut stream, &received).await;
        }
        Does::Serves(answer) => loop {
            let before = received.lock().unwrap().len();
            read_request(&mut stream, &received).await;
            if received.lock().unwrap().len() == before || stream.write_all(&answer).await.is_err() {
                return;
            }
        },
    }
}

/// Reads to the end of the envelope or of the connection.
async fn read_request(stream: &mut TcpStream, received: &Mutex<Vec<u8>>) {
    let mut buffer = vec![0; 4096];
    loop {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(length) => {
                let mut received = received.lock().unwrap();
                received.extend_from_slice(&buffer[..length]);
                if received.ends_with(b"Envelope>") {
                    return;
                }
            }
        }
    }
}
