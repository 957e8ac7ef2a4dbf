//! A stub of the vendor's HTTP API: it records the requests and sends scripted answers.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The four endpoints of the vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    Access,
    Operator,
    Order,
    Report,
}

/// What the stub does with one request.
#[derive(Clone, Debug)]
pub enum Does {
    /// Answers with this status and body.
    Answers(u16, String),
    /// Answers with this status and body after this time.
    AnswersLate(Duration, u16, String),
    /// Sends exactly these bytes, and closes.
    Says(Vec<u8>),
    /// Closes without an answer.
    Closes,
    /// Never answers.
    IsSilent,
}

/// A recorded request.
#[derive(Clone, Debug)]
pub struct Seen {
    pub endpoint: Endpoint,
    /// Method, path and query.
    pub line: String,
    /// The headers in lower case, one per line.
    pub head: String,
    pub body: String,
}

#[derive(Default)]
struct State {
    script: HashMap<Endpoint, VecDeque<Does>>,
    seen: Vec<Seen>,
}

pub struct VendorStub {
    pub host: String,
    state: Arc<Mutex<State>>,
}

impl VendorStub {
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _peer)) = listener.accept().await {
                tokio::spawn(serve(BufReader::new(stream), Arc::clone(&shared)));
            }
        });
        Self { host, state }
    }

    /// Scripts the next requests to this endpoint. Later requests get the default answer.
    pub fn will(&self, endpoint: Endpoint, does: impl IntoIterator<Item = Does>) {
        self.state.lock().unwrap().script.entry(endpoint).or_default().extend(does);
    }

    pub fn saw(&self) -> Vec<Seen> {
        self.state.lock().unwrap().seen.clone()
    }

    /// The endpoints of all requests, in order.
    pub fn endpoints(&self) -> Vec<Endpoint> {
        self.saw().into_iter().map(|seen| seen.endpoint).collect()
    }

    pub fn requests_to(&self, endpoint: Endpoint) -> usize {
        self.endpoints().into_iter().filter(|requested| *requested == endpoint).count()
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

/// A success that repeats the order.
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

async fn serve(mut stream: BufReader<TcpStream>, state: Arc<Mutex<State>>) {
    while let Some(seen) = read_request(&mut stream).await {
        let does = {
            let mut state = state.lock().unwrap();
            state.seen.push(seen.clone());
            let scripted = state.script.get_mut(&seen.endpoint).and_then(VecDeque::pop_front);
            scripted.unwrap_or_else(|| usual(&seen, &state.seen))
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

fn usual(seen: &Seen, earlier: &[Seen]) -> Does {
    match seen.endpoint {
        Endpoint::Access => {
            let number = earlier.iter().filter(|seen| seen.endpoint == Endpoint::Access).count();
            grant(&format!("pass-{number}"), 3_600)
        }
        Endpoint::Operator => network(&json!({})),
        Endpoint::Order => Does::Answers(200, success(&seen.body).to_string()),
        Endpoint::Report => {
            let ordered = |order: &&Seen| {
                let order: Value = serde_json::from_str(&order.body).unwrap_or_default();
                order["customIdentifier"].as_str().is_some_and(|name| seen.line.contains(name))
            };
            let rows: Vec<Value> = earlier.iter().filter(ordered).map(|order| success(&order.body)).collect();
            Does::Answers(200, json!({"content": rows}).to_string())
        }
    }
}

/// Reads a complete request. `None` after the connection was closed.
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
    let endpoint = if line.contains("/oauth/token") {
        Endpoint::Access
    } else if line.contains("/operators/") {
        Endpoint::Operator
    } else if line.starts_with("POST") {
        Endpoint::Order
    } else {
        Endpoint::Report
    };
    Some(Seen { endpoint, line, head, body: String::from_utf8(body).ok()? })
}
