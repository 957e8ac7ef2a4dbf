//! Tests of one exchange: which failures prove that nothing was sent.

use std::time::Duration;

use provider::Gate;
use provider_http::header::{HeaderMap, HeaderName, HeaderValue};
use provider_http::{NoReply, Outgoing, Transport, TransportError, TransportSettings, Url};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const PATIENCE: Duration = Duration::from_secs(10);

/// No program listens here. A port that was only just free could be given to another test's server.
const UNREACHABLE: &str = "http://127.0.0.1:1/";

fn settings() -> TransportSettings<'static> {
    TransportSettings::connecting_within(PATIENCE)
}

fn transport() -> Transport {
    Transport::new(settings()).unwrap()
}

async fn post(url: &str, body: &str) -> Result<(u16, Vec<u8>), NoReply> {
    let outgoing =
        Outgoing { url: Url::parse(url).unwrap(), headers: HeaderMap::new(), body: body.as_bytes().to_vec() };
    let reply = transport().post(outgoing, &Gate::while_true(|| true), PATIENCE).await;
    reply.map(|reply| (reply.status, reply.body))
}

async fn get(url: &str) -> Result<(u16, Vec<u8>), NoReply> {
    let reply = transport().get(Url::parse(url).unwrap(), HeaderMap::new(), PATIENCE).await;
    reply.map(|reply| (reply.status, reply.body))
}

/// Accepts one connection, reads a request, sends this answer, and closes the connection.
async fn listener_that_says(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _peer) = listener.accept().await.unwrap();
        let mut message = Vec::new();
        while !message.ends_with(b"\r\n\r\n") && !message.ends_with(b"order") {
            message.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    url
}

#[tokio::test]
async fn the_reply_comes_with_its_status_whatever_that_is() {
    for (answer, status) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200),
        ("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nhi", 500),
        ("HTTP/1.1 302 There\r\nLocation: /\r\nContent-Length: 2\r\n\r\nhi", 302),
    ] {
        assert_eq!(post(&listener_that_says(answer).await, "order").await, Ok((status, b"hi".to_vec())));
        assert_eq!(get(&listener_that_says(answer).await).await, Ok((status, b"hi".to_vec())));
    }
}

#[tokio::test]
async fn only_what_found_no_connection_was_never_sent() {
    assert_eq!(post(UNREACHABLE, "order").await, Err(NoReply::NeverSent));
    assert_eq!(get(UNREACHABLE).await, Err(NoReply::NeverSent));
    assert_eq!(post(&listener_that_says("").await, "order").await, Err(NoReply::ConnectionLost));
    assert_eq!(get(&listener_that_says("").await).await, Err(NoReply::ConnectionLost));
}

#[tokio::test]
async fn an_empty_message_is_not_sent_at_all() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    assert_eq!(post(&url, "").await, Err(NoReply::NeverSent));
    let connection = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
    assert!(connection.is_err());
}

#[tokio::test]
async fn junk_in_the_place_of_certificates_is_refused_at_the_start() {
    let junk = TransportSettings { extra_root_certificate_pem: Some("junk"), ..settings() };
    assert!(matches!(Transport::new(junk), Err(TransportError::NoRootCertificate)));
    let junk = "junk".into();
    let junk = TransportSettings { client_certificate_pem: Some(&junk), ..settings() };
    assert!(matches!(Transport::new(junk), Err(TransportError::Client(_))));
}

#[tokio::test]
async fn the_settings_name_the_client_bound_the_reply_and_add_headers() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let heads = tokio::spawn(async move {
        let mut heads = Vec::new();
        for body in ["1234", "12345"] {
            let (mut stream, _peer) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nx-trace: t1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
            heads.push(String::from_utf8(head).unwrap().to_lowercase());
        }
        heads
    });
    let (key, own) = (HeaderValue::from_static("k1"), HeaderValue::from_static("k2"));
    let every = HeaderMap::from_iter([(HeaderName::from_static("x-api-key"), key)]);
    let settings =
        TransportSettings { user_agent: "till/7", reply_bytes_max: 4, headers: Some(&every), ..settings() };
    let transport = Transport::new(settings).unwrap();

    let reply = transport.get(url.clone(), HeaderMap::new(), PATIENCE).await.unwrap();
    assert_eq!(reply.headers.get("x-trace"), Some(&HeaderValue::from_static("t1")));
    assert_eq!(reply.body, b"1234");
    assert_eq!(format!("{reply:?}"), "HttpReply(200, 3 headers, 4 bytes)");
    let own = HeaderMap::from_iter([(HeaderName::from_static("x-api-key"), own)]);
    assert_eq!(transport.get(url, own, PATIENCE).await, Err(NoReply::Unreadable), "it has five bytes");
    let heads = heads.await.unwrap();
    let has = |head: usize, line: &str| heads[head].contains(&format!("\r\n{line}\r\n"));
    assert!(has(0, "user-agent: till/7") && has(0, "x-api-key: k1") && has(1, "x-api-key: k2"), "{heads:?}");
}
