//! One attempt against real sockets: what an endpoint may do, and that it cannot make the sender wait, follow or remember.

use std::{fmt::Write, time::Duration};

use clock::{Clock, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use webhook::{Destination, DestinationRules};
use webhook_delivery::{Outcome, Sender, Signed, Unanswered};

const WITHIN: Duration = Duration::from_millis(500);
const CONNECT_WITHIN: Duration = Duration::from_millis(200);

fn rules(networks: &[&str]) -> DestinationRules {
    let allow_networks = networks.iter().map(|network| network.parse().unwrap()).collect();
    DestinationRules { allow_http: true, allow_networks }
}

fn sender(networks: &[&str]) -> Sender {
    let _already = rustls::crypto::ring::default_provider().install_default();
    Sender::new(rules(networks), CONNECT_WITHIN, WITHIN).unwrap()
}

async fn sent_to(url: &str) -> Outcome {
    let lenient = rules(&["127.0.0.0/8", "::1/128"]);
    let destination = Destination::parse(url, &lenient).unwrap();
    sender(&["127.0.0.0/8"]).send(&destination, message()).await
}

fn message() -> Signed {
    let (id, signature) = ("evt_1".to_owned(), "v1,abc v1a,def".to_owned());
    Signed { id, timestamp: 1_790_000_000, signature, body: br#"{"type":"wallet.low"}"#.to_vec() }
}

/// Reads a whole request with the body above.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"low\"}") {
        request.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(request).unwrap()
}

/// An endpoint that answers one request with this text and keeps the connection open.
async fn endpoint(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _peer) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(answer.as_bytes()).await.unwrap();
        std::future::pending::<()>().await;
    });
    url
}

const fn answered(status: u16) -> Outcome {
    Outcome::Answered { status, retry_after: None }
}

#[tokio::test]
async fn an_endpoint_receives_the_message_with_the_headers_of_the_standard() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook?shop=7", listener.local_addr().unwrap());
    let receiver = tokio::spawn(async move {
        let (mut stream, _peer) = listener.accept().await.unwrap();
        let request = read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 204 OK\r\n\r\n").await.unwrap();
        request
    });
    assert_eq!(sent_to(&url).await, answered(204));
    let request = receiver.await.unwrap();
    assert!(request.starts_with("POST /hook?shop=7 HTTP/1.1\r\n"), "{request}");
    for line in [
        "webhook-id: evt_1\r\n",
        "webhook-timestamp: 1790000000\r\n",
        "webhook-signature: v1,abc v1a,def\r\n",
        "content-type: application/json\r\n",
    ] {
        assert!(request.contains(line), "{line} in {request}");
    }
    assert!(request.ends_with("\r\n\r\n{\"type\":\"wallet.low\"}"), "{request}");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = other.local_addr().unwrap();
    let answer = format!("HTTP/1.1 307 There\r\nLocation: http://{to}/\r\nContent-Length: 0\r\n\r\n").leak();
    assert_eq!(sent_to(&endpoint(answer).await).await, answered(307));
    let followed = tokio::time::timeout(Duration::from_millis(50), other.accept()).await;
    assert!(followed.is_err(), "the redirect was followed");
}

#[tokio::test]
async fn an_endpoint_that_asks_for_time_is_heard() {
    let asks = endpoint("HTTP/1.1 503 Busy\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n").await;
    let heard = Outcome::Answered { status: 503, retry_after: Some(Duration::from_mins(2)) };
    assert_eq!(sent_to(&asks).await, heard);
    let date = endpoint("HTTP/1.1 429 No\r\nRetry-After: Fri, 31 Dec 2027 23:59:59 GMT\r\n\r\n").await;
    assert_eq!(sent_to(&date).await, answered(429));
}

#[tokio::test]
async fn a_silent_or_slow_endpoint_costs_no_more_than_the_time_limit() {
    for answer in ["", "HTTP/1.1 200 OK\r\nX-Never: ending"] {
        let (url, started) = (endpoint(answer).await, SystemClock.monotonic());
        assert_eq!(sent_to(&url).await, Outcome::Unanswered(Unanswered::TimedOut));
        let took = SystemClock.monotonic().elapsed_since(started);
        assert!(took < WITHIN * 3, "{took:?}");
    }
}

#[tokio::test]
async fn an_endless_answer_is_not_read() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let written = tokio::spawn(async move {
        let (mut stream, _peer) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await.unwrap();
        let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x1_0000));
        let mut written = 0;
        while stream.write_all(chunk.as_bytes()).await.is_ok() {
            written += chunk.len();
        }
        written
    });
    assert_eq!(sent_to(&url).await, answered(200));
    let written = tokio::time::timeout(Duration::from_secs(10), written).await.unwrap().unwrap();
    assert!(written < 32 * 1024 * 1024, "the sender took {written} bytes");
}

#[tokio::test]
async fn endless_headers_are_refused() {
    let mut answer = "HTTP/1.1 200 OK\r\n".to_owned();
    for number in 0..100 {
        write!(answer, "X-{number}: 1\r\n").unwrap();
    }
    answer.push_str("\r\n");
    assert_eq!(sent_to(&endpoint(answer.leak()).await).await, Outcome::Unanswered(Unanswered::Broken));
}

#[tokio::test]
async fn a_reset_or_refused_connection_and_nonsense_are_told_apart() {
    assert_eq!(sent_to(&endpoint("SSH-2.0\r\n\r\n").await).await, Outcome::Unanswered(Unanswered::Broken));

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _peer) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        drop(stream);
    });
    assert_eq!(sent_to(&url).await, Outcome::Unanswered(Unanswered::Broken));
    assert_eq!(sent_to("http://127.0.0.1:1/").await, Outcome::Unanswered(Unanswered::NoConnection));
    let unknown = sent_to("http://no-such-host.example.invalid./").await;
    assert_eq!(unknown, Outcome::Unanswered(Unanswered::NotResolved));
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_is_not_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let lenient = rules(&["127.0.0.0/8"]);
    // The address passes the check of its text, as a name does whose owner changes what it resolves to.
    for host in ["localhost", "127.0.0.1"] {
        let destination = Destination::parse(&format!("http://{host}:{port}/"), &lenient).unwrap();
        let outcome = sender(&[]).send(&destination, message()).await;
        assert_eq!(outcome, Outcome::Unanswered(Unanswered::NotAllowed), "{host}");
    }
    let connected = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
    assert!(connected.is_err(), "a private address was connected to");
    let destination = Destination::parse(&format!("http://localhost:{port}/"), &lenient).unwrap();
    let sender = sender(&["127.0.0.0/8"]);
    let (accepted, _outcome) = tokio::join!(listener.accept(), sender.send(&destination, message()));
    assert!(accepted.is_ok());
}

#[tokio::test]
async fn a_server_without_a_valid_certificate_gets_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let received = tokio::spawn(async move {
        let (mut stream, _peer) = listener.accept().await.unwrap();
        let mut hello = vec![0; 4096];
        let read = stream.read(&mut hello).await.unwrap();
        hello.truncate(read);
        hello
    });
    assert_eq!(sent_to(&url).await, Outcome::Unanswered(Unanswered::NoConnection));
    assert!(!String::from_utf8_lossy(&received.await.unwrap()).contains("wallet.low"));
}
