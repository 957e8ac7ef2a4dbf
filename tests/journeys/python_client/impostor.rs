//! A scripted server, for answers to the Python client that are hard to provoke otherwise.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

/// The answer to one call. Logins are not part of the script.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Status, one header line, body.
    Says(u16, &'static str, String),
    /// The server closes the connection.
    HangsUp,
}

/// The server. It runs until the test process ends.
pub struct Impostor {
    pub url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Reply {
    pub fn bought() -> Self {
        let product = json!({ "type": "ELECTRICITY", "token": "11112222333344445555", "units": "66.6 kWh" });
        Self::envelope("SUCCESSFUL", &product)
    }

    pub fn pending() -> Self {
        Self::envelope("PENDING", &json!({ "type": "ELECTRICITY" }))
    }

    pub fn error(status: u16, code: &str) -> Self {
        Self::error_with(status, code, "Retry-After: 1", &json!({}))
    }

    /// A purchase was made and has failed for good.
    pub fn failed(status: u16, code: &str) -> Self {
        Self::error_with(status, code, "Server: impostor", &json!({ "failure": { "buy_again": true } }))
    }

    /// An answer that is not final. The service asks for a retry in two hours and knows the outcome in three.
    pub fn open_for_hours() -> Self {
        let recovery = json!({
            "call": "retry", "not_before": "2026-11-20T02:00:00Z", "resolved_by": "2026-11-20T03:00:00Z",
        });
        let now = "Date: Fri, 20 Nov 2026 00:00:00 GMT";
        Self::error_with(409, "transaction_pending", now, &json!({ "recovery": recovery }))
    }

    fn error_with(status: u16, code: &str, header: &'static str, more: &Value) -> Self {
        let mut error = json!({
            "type": "some_error", "code": code, "message": "A sentence.", "param": null, "retryable": false,
            "doc_url": "http://localhost/", "request_id": "1",
        });
        let fields =
            more.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
        error.as_object_mut().unwrap().extend(fields);
        Self::Says(status, header, json!({ "error": error }).to_string())
    }

    pub fn page_of_a_proxy(status: u16) -> Self {
        Self::Says(status, "Server: proxy", "<html>Something went wrong</html>".to_owned())
    }

    fn envelope(status: &str, product: &Value) -> Self {
        let purchase = json!({
            "id": 1, "status": status, "reference": "TOP/2026/11/0000000001", "total": "BWP 101.50",
            "product": product,
        });
        Self::Says(200, "Server: impostor", purchase.to_string())
    }
}

impl Impostor {
    pub fn saying(script: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notebook = Arc::clone(&seen);
        thread::spawn(move || {
            let mut script = script.into_iter();
            for connection in listener.incoming() {
                serve(connection.unwrap(), &mut script, &notebook);
            }
        });
        Self { url, seen }
    }

    /// The last segment of every path that was called, with the idempotency key if there was one.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(mut connection: TcpStream, script: &mut impl Iterator<Item = Reply>, seen: &Mutex<Vec<String>>) {
    let (path, key) = read(&connection);
    let name = path.rsplit('/').next().unwrap_or_default();
    seen.lock().unwrap().push(key.map_or_else(|| name.to_owned(), |key| format!("{name} {key}")));
    let reply = match name {
        "login" | "refresh" => Reply::Says(200, "Server: impostor", session(seen)),
        _ => script.next().unwrap_or(Reply::HangsUp),
    };
    if let Reply::Says(status, header, body) = reply {
        let head =
            format!("HTTP/1.1 {status} Whatever\r\n{header}\r\nContent-Length: {}\r\n\r\n", body.len());
        connection.write_all(format!("{head}{body}").as_bytes()).unwrap();
    }
}

/// A session with a new access token each time.
fn session(seen: &Mutex<Vec<String>>) -> String {
    let calls = seen.lock().unwrap().len();
    let access_token = format!("access-{calls}");
    json!({ "access_token": access_token, "refresh_token": "refresh", "access_in": 900 }).to_string()
}

/// Reads a whole request and returns its path and its key.
fn read(connection: &TcpStream) -> (String, Option<String>) {
    let mut reader = BufReader::new(connection);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let field = |name: &str| {
        let fields = head.iter().filter_map(|line| line.split_once(": "));
        fields
            .into_iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.to_owned())
    };
    let length = field("Content-Length").map_or(0, |length| length.parse().unwrap());
    reader.read_exact(&mut vec![0; length]).unwrap();
    let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    (path.to_owned(), field("Idempotency-Key"))
}
