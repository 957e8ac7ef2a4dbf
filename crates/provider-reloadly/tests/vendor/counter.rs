//! The vendor's side of the wire: it writes down what it is asked, and answers as a test wants.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The four doors of the vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Door {
    Access,
    Operator,
    Order,
    Report,
}

/// What becomes of one request.
#[derive(Clone, Debug)]
pub enum Does {
    /// Answers with this status and body.
    Answers(u16, String),
    /// The same, later.
    AnswersLate(Duration, u16, String),
    /// Says exactly this, and closes.
    Says(Vec<u8>),
    /// Closes without an answer.
    Closes,
    /// Never answers.
    IsSilent,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub door: Door,
    /// Method, path and query.
    pub line: String,
    /// Lower case, one per line.
    pub head: String,
    pub body: String,
}

#[derive(Default)]
struct Book {
    script: HashMap<Door, VecDeque<Does>>,
    seen: Vec<Seen>,
}

pub struct Counter {
    pub host: String,
    book: Arc<Mutex<Book>>,
}

impl Counter {
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = format!("http://{}", listener.local_addr().unwrap());
        let book = Arc::<Mutex<Book>>::default();
        let shared = Arc::clone(&book);
        tokio::spawn(async move {
            while let Ok((stream, _peer)) = listener.accept().await {
                tokio::spawn(attend(BufReader::new(stream), Arc::clone(&shared)));
            }
        });
        Self { host, book }
    }

    /// What becomes of the next requests at this door; then they are answered as usual.
    pub fn will(&self, door: Door, does: impl IntoIterator<Item = Does>) {
        self.book.lock().unwrap().script.entry(door).or_default().extend(does);
    }

    pub fn saw(&self) -> Vec<Seen> {
        self.book.lock().unwrap().seen.clone()
    }

    /// The doors, in the order in which they were knocked at.
    pub fn doors(&self) -> Vec<Door> {
        self.saw().into_iter().map(|seen| seen.door).collect()
    }

    pub fn knocks(&self, door: Door) -> usize {
        self.doors().into_iter().filter(|knocked| *knocked == door).count()
    }
}

pub fn grant(name: &str, seconds: u64) -> Does {
    let body = json!({"access_token": name, "scope": "", "expires_in": seconds, "token_type": "Bearer"});
    Does::Answers(200, body.to_string())
}

pub fn network(changes: &Value) -> Does {
    let mut network = json!({
        "operatorId": 118, "name": "Village Mobile", "denominationType": "RANGE", "supportsLocalAmounts": true,
        "localMinAmount": 5, "localMaxAmount": 500, "localFixedAmounts": [],
    });
    for (field, value) in changes.as_object().unwrap() {
        network[field] = value.clone();
    }
    Does::Answers(200, network.to_string())
}

pub fn error(status: u16, code: &str) -> Does {
    Does::Answers(status, json!({"errorCode": code, "message": "no"}).to_string())
}

/// A success that repeats what was ordered.
pub fn success(order: &str) -> Value {
    let order: Value = serde_json::from_str(order).unwrap();
    let amount: Value = serde_json::from_str(order["amount"].as_str().unwrap()).unwrap();
    json!({
        "transactionId": 77_120, "status": "SUCCESSFUL", "customIdentifier": order["customIdentifier"],
        "recipientPhone": order["recipientPhone"]["number"], "operatorId": order["operatorId"],
        "requestedAmount": amount, "requestedAmountCurrencyCode": "BWP",
        "deliveredAmount": amount, "deliveredAmountCurrencyCode": "BWP",
    })
}

async fn attend(mut stream: BufReader<TcpStream>, book: Arc<Mutex<Book>>) {
    while let Some(seen) = read_request(&mut stream).await {
        let does = {
            let mut book = book.lock().unwrap();
            book.seen.push(seen.clone());
            let scripted = book.script.get_mut(&seen.door).and_then(VecDeque::pop_front);
            scripted.unwrap_or_else(|| usual(&seen, &book.seen))
        };
        let (status, body) = match does {
            Does::Answers(status, body) => (status, body),
            Does::AnswersLate(late, status, body) => {
                tokio::time::sleep(late).await;
                (status, body)
            }
            Does::Says(bytes) => {
                let _gone = stream.write_all(&bytes).await;
                return;
            }
            Does::Closes => return,
            Does::IsSilent => {
                let _until_the_other_side_closes = stream.read(&mut [0]).await;
                return;
            }
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        if stream.write_all(format!("{head}{body}").as_bytes()).await.is_err() {
            return;
        }
    }
}

fn usual(seen: &Seen, book: &[Seen]) -> Does {
    match seen.door {
        Door::Access => {
            let number = book.iter().filter(|seen| seen.door == Door::Access).count();
            grant(&format!("pass-{number}"), 3_600)
        }
        Door::Operator => network(&json!({})),
        Door::Order => Does::Answers(200, success(&seen.body).to_string()),
        Door::Report => {
            let ordered = |order: &&Seen| {
                let order: Value = serde_json::from_str(&order.body).unwrap_or_default();
                order["customIdentifier"].as_str().is_some_and(|name| seen.line.contains(name))
            };
            let rows: Vec<Value> = book.iter().filter(ordered).map(|order| success(&order.body)).collect();
            Does::Answers(200, json!({"content": rows}).to_string())
        }
    }
}

/// Reads a whole request; none once the connection is closed.
async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Seen> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let line = head.lines().next()?.to_owned();
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    let door = if line.contains("/oauth/token") {
        Door::Access
    } else if line.contains("/operators/") {
        Door::Operator
    } else if line.starts_with("POST") {
        Door::Order
    } else {
        Door::Report
    };
    Some(Seen { door, line, head, body: String::from_utf8(body).ok()? })
}
