//! An integrator's till that receives webhooks and verifies them.

use std::sync::{Arc, Mutex};

use clock::{Clock, SystemClock};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};
use webhook::{Message, TOLERANCE, VerifyingKey, verify};

/// A running till. What it cannot verify it does not accept.
#[derive(Clone)]
pub struct Till {
    pub url: String,
    keys: Arc<Mutex<Vec<VerifyingKey>>>,
    events: Arc<Mutex<Vec<Value>>>,
}

impl Till {
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/webhooks", listener.local_addr().unwrap());
        let till = Self { url, keys: Arc::default(), events: Arc::default() };
        let served = till.clone();
        tokio::spawn(async move {
            while let Ok((stream, _peer)) = listener.accept().await {
                let till = served.clone();
                tokio::spawn(async move { till.serve(BufReader::new(stream)).await });
            }
        });
        till
    }

    /// Each of these keys must verify an event.
    pub fn verifies_with(&self, keys: &[&Value]) {
        let keys = keys.iter().map(|key| key.as_str().unwrap().parse().unwrap());
        self.keys.lock().unwrap().extend(keys);
    }

    pub fn events(&self) -> Vec<Value> {
        self.events.lock().unwrap().clone()
    }

    async fn serve(&self, mut stream: BufReader<TcpStream>) {
        while let Some((head, body)) = read(&mut stream).await {
            let is_genuine = self.is_genuine(&head, &body);
            if is_genuine {
                self.events.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
            }
            let status = if is_genuine { "204 Got It" } else { "401 Not Yours" };
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    fn is_genuine(&self, head: &[(String, String)], body: &[u8]) -> bool {
        let field = |name| head.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value);
        let Ok(timestamp) = field("webhook-timestamp").parse() else { return false };
        let message = Message { id: field("webhook-id"), timestamp, body };
        let (signature, now) = (field("webhook-signature"), SystemClock.now().timestamp());
        let keys = self.keys.lock().unwrap();
        !keys.is_empty() && keys.iter().all(|key| verify(&message, signature, now, TOLERANCE, key).is_ok())
    }
}

/// The header fields and the body of the next request.
async fn read(stream: &mut BufReader<TcpStream>) -> Option<(Vec<(String, String)>, Vec<u8>)> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) => head.push((name.to_ascii_lowercase(), value.to_owned())),
            None if line == "\r\n" => break,
            None => {}
        }
    }
    let length = head.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, body))
}
