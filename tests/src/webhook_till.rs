//! An integrator's till that receives webhooks and verifies them.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

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
    received: Arc<Mutex<Vec<Received>>>,
    known: Arc<Mutex<HashSet<String>>>,
    manner: fn(usize) -> Manner,
}

/// One request as it was received.
#[derive(Clone, Debug)]
pub struct Received {
    /// The `webhook-id`.
    pub id: String,
    pub body: Vec<u8>,
    pub is_genuine: bool,
    pub is_accepted: bool,
}

/// What a till does with an event that it has verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Accepts,
    /// It answers 500.
    Fails,
    /// It closes the connection without an answer.
    HangsUp,
}

impl Till {
    pub async fn open() -> Self {
        Self::open_with(|_| Manner::Accepts).await
    }

    /// The manner is asked when an id arrives for the first time, with the number of ids before it. Later it is accepted.
    pub async fn open_with(manner: fn(usize) -> Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/webhooks", listener.local_addr().unwrap());
        let till =
            Self { url, keys: Arc::default(), received: Arc::default(), known: Arc::default(), manner };
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

    /// The events that were accepted, in the order of their arrival.
    pub fn events(&self) -> Vec<Value> {
        let accepted = |received: &&Received| received.is_accepted;
        self.received().iter().filter(accepted).map(|it| serde_json::from_slice(&it.body).unwrap()).collect()
    }

    /// All requests, in the order of their arrival.
    pub fn received(&self) -> MutexGuard<'_, Vec<Received>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn serve(&self, mut stream: BufReader<TcpStream>) {
        while let Some((head, body)) = read(&mut stream).await {
            let status = match self.receives(&head, body) {
                None => "401 Not Yours",
                Some(Manner::Accepts) => "204 Got It",
                Some(Manner::Fails) => "500 Out Of Order",
                Some(Manner::HangsUp) => return,
            };
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    /// `None` if no key of the till has signed it.
    fn receives(&self, head: &[(String, String)], body: Vec<u8>) -> Option<Manner> {
        let id = field(head, "webhook-id").to_owned();
        let is_genuine = self.is_genuine(head, &body);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.len();
        let is_new = known.insert(id.clone());
        let manner = is_genuine.then(|| if is_new { (self.manner)(before) } else { Manner::Accepts });
        let mut received = self.received();
        received.push(Received { id, body, is_genuine, is_accepted: manner == Some(Manner::Accepts) });
        manner
    }

    fn is_genuine(&self, head: &[(String, String)], body: &[u8]) -> bool {
        let Ok(timestamp) = field(head, "webhook-timestamp").parse() else { return false };
        let message = Message { id: field(head, "webhook-id"), timestamp, body };
        let (signature, now) = (field(head, "webhook-signature"), SystemClock.now().timestamp());
        let keys = self.keys.lock().unwrap();
        !keys.is_empty() && keys.iter().all(|key| verify(&message, signature, now, TOLERANCE, key).is_ok())
    }
}

fn field<'h>(head: &'h [(String, String)], name: &str) -> &'h str {
    head.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
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
