//! Malformed requests that no HTTP client sends. Each is answered in the envelope, and the connection ends.

use sandbox::Process;
use serde_json::Value;

use crate::{conversation::Conversation, env::env};

/// Disables the limits for these tests.
const UNLIMITED: [(&str, &str); 2] = [
    ("VENDGATE__WEB__LIMITS__MALFORMED__PER_SECOND", "0"),
    ("VENDGATE__WEB__LIMITS__UNKNOWN_TOKEN__PER_SECOND", "0"),
];

/// A parsed answer.
struct Answer {
    status: u16,
    head: String,
    body: Value,
}

impl Answer {
    fn field(&self, name: &str) -> Option<&str> {
        let found =
            self.head.lines().filter_map(|line| line.split_once(": ")).find(|(found, _)| *found == name);
        found.map(|(_, value)| value)
    }

    /// Checks the error envelope of the versioned surface and returns its message.
    #[track_caller]
    fn refusal(&self) -> &str {
        let error = &self.body["error"];
        assert_eq!((self.status, error["code"].as_str()), (400, Some("invalid_argument")), "{}", self.head);
        assert_eq!((&error["type"], &error["retryable"]), (&"validation_error".into(), &false.into()));
        assert!(self.field("x-request-id").is_some(), "{}", self.head);
        assert_eq!(error["request_id"].as_str(), self.field("x-request-id"));
        assert_eq!(self.field("content-type"), Some("application/json"));
        error["message"].as_str().unwrap()
    }
}

/// All answers to these bytes, until the server closes.
fn answers(server: &Process, request: impl AsRef<[u8]>) -> Vec<Answer> {
    let mut text = Conversation::beginning_with(server, request).reads_to_its_end();
    let mut answers = Vec::new();
    while let Some((head, rest)) = text.split_once("\r\n\r\n") {
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length = length.unwrap_or_else(|| panic!("no length in {head}")).parse().unwrap();
        let (body, next) = rest.split_at(length);
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        answers.push(Answer { status, head: head.to_owned(), body: serde_json::from_str(body).unwrap() });
        text = next.to_owned();
    }
    assert_eq!(text, "");
    answers
}

#[tokio::test]
async fn every_broken_head_is_answered_in_the_envelope() {
    let server = env().another_api_server_with("server-with-broken-heads", &UNLIMITED);
    let folded = "GET /nowhere HTTP/1.1\r\nHost: x\r\nX-Note: a\r\n b\r\n\r\n";
    let lengths = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n";
    let both = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n";
    let marked = "GET / HTTP/1.1\r\nHost: x\r\nVendgate-Broken-Head: too-slow\r\n\r\n";
    let no_address = "GET /\u{ff} HTTP/1.1\r\nHost: x\r\n\r\n";
    for (what, request, told_of) in [
        ("a bare line feed", "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", "line feed"),
        ("bare line feeds only", "GET / HTTP/1.1\nHost: x\n\n", "line feed"),
        ("no host", "GET / HTTP/1.1\r\n\r\n", "cannot be read"),
        ("two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", "cannot be read"),
        ("a folded field", folded, "cannot be read"),
        ("a space before the colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n", "cannot be read"),
        ("two lengths", lengths, "cannot be read"),
        ("a length and chunks", both, "cannot be read"),
        ("another version", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", "cannot be read"),
        ("HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "cannot be read"),
        ("no address", no_address, "cannot be read"),
        ("a word", "hello\r\n\r\n", "cannot be read"),
        ("the beginning of TLS", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", "cannot be read"),
        ("a mark of our own", marked, "cannot be read"),
    ] {
        let answers = answers(&server, request);
        assert_eq!(answers.len(), 1, "{what}");
        assert!(answers[0].refusal().contains(told_of), "{what}: {}", answers[0].body);
        assert_eq!(answers[0].field("connection"), Some("close"), "{what}");
    }
}

#[tokio::test]
async fn a_broken_head_keeps_the_requests_name_its_language_and_its_surface() {
    let server = env().another_api_server_with("server-with-named-broken-heads", &UNLIMITED);
    let broken = |path: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: till-7\r\nAccept-Language: fr\r\nA: b\n\r\n"
        )
    };
    let versioned = answers(&server, broken("/public/v1/auth/login"));
    assert!(versioned[0].refusal().contains("saut de ligne seul"), "{}", versioned[0].body);
    assert_eq!(versioned[0].field("x-request-id"), Some("till-7"));

    let current = answers(&server, broken("/auth/login"));
    assert_eq!(current[0].status, 400);
    assert_eq!(current[0].body["response_code"], "invalid_argument");
    assert_eq!(current[0].field("x-request-id"), Some("till-7"));
    assert!(current[0].field("deprecation").is_some(), "{}", current[0].head);
}

#[tokio::test]
async fn requests_before_a_broken_head_are_answered_first_and_those_after_it_never() {
    let server = env().another_api_server_with("server-with-a-broken-head-among-others", &UNLIMITED);
    let good = "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n";
    let answers = answers(&server, format!("{good}{good}GET / HTTP/1.1\nHost: x\n\n{good}"));
    let statuses: Vec<u16> = answers.iter().map(|answers| answers.status).collect();
    assert_eq!(statuses, [404, 404, 400]);
    assert!(answers[2].refusal().contains("line feed"));
}

#[tokio::test]
async fn a_line_feed_in_a_body_is_not_checked() {
    let server = env().another_api_server_with("server-with-line-feeds", &UNLIMITED);
    let body = "{\n\n\"grant_type\":\n\"password\"\n}\n";
    let length = body.len();
    let whole = format!("POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}");
    let chunked = format!(
        "POST /auth/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\
         {length:x}\r\n{body}\r\n0\r\n\r\n"
    );
    for answers in answers(&server, format!("{whole}{chunked}")) {
        assert_eq!(answers.body["response_code"], "missing_field", "{}", answers.body);
    }
}

#[tokio::test]
async fn a_chunk_that_contradicts_itself_is_reported_once() {
    let server = env().another_api_server_with("server-with-broken-chunks", &UNLIMITED);
    let head = "POST /public/v1/auth/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for chunk in ["3\r\nabcd\r\n", "x\r\n", "fffffffffffffffff\r\n"] {
        let answers = answers(&server, format!("{head}{chunk}"));
        assert_eq!(answers.len(), 1, "{chunk:?}");
        assert!(answers[0].refusal().contains("before it was complete"), "{chunk:?}: {}", answers[0].body);
    }
}

#[tokio::test]
async fn two_credentials_in_one_request_are_refused() {
    let server = env().another_api_server_with("server-with-two-credentials", &UNLIMITED);
    let merchant = env().open_merchant().await.calling(server.url());
    let token = &merchant.access_token;
    for (path, field) in [("/public/v1/accounts", "/error/param"), ("/auth/me", "/errors/authorization")] {
        for second in [token.as_str(), "nonsense"] {
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
                 Authorization: Bearer {second}\r\nConnection: close\r\n\r\n"
            );
            let answers = answers(&server, request);
            assert_eq!(answers[0].status, 400, "{}", answers[0].body);
            assert!(answers[0].body.pointer(field).is_some(), "{}", answers[0].body);
            assert!(answers[0].body.to_string().contains("more than once"), "{}", answers[0].body);
        }
    }
}

#[tokio::test]
async fn broken_heads_are_counted_like_all_malformed_requests() {
    let one = [
        ("VENDGATE__WEB__LIMITS__MALFORMED__PER_SECOND", "1"),
        ("VENDGATE__WEB__LIMITS__MALFORMED__BURST", "1"),
        ("VENDGATE__WEB__TRUSTED_PROXIES", "127.0.0.0/8"),
    ];
    let server = env().another_api_server_with("server-with-few-broken-heads", &one);
    let from =
        |address: &str| format!("GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {address}\nA: b\r\n\r\n");
    let first = answers(&server, from("203.0.113.1"));
    assert!(first[0].refusal().contains("line feed"));
    let mut last = answers(&server, from("203.0.113.1"));
    if last[0].status != 429 {
        last = answers(&server, from("203.0.113.1"));
    }
    assert_eq!((last[0].status, &last[0].body["error"]["code"]), (429, &"rate_limited".into()));
    assert!(last[0].field("retry-after").is_some(), "{}", last[0].head);
    assert_eq!(answers(&server, from("203.0.113.2"))[0].status, 400, "another address is not limited");
}
