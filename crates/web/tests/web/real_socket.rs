//! Tests over a real socket: a body that arrives slowly, because time passes only there, and a panic, because only
//! there the server itself must answer.

use std::{sync::Arc, time::Duration};

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    middleware::from_fn,
    web::{Data, Payload},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use clock::SystemClock;
use web::{ApiError, SharedState, WebSettings, intake, post, read_fields};

async fn fields(request: HttpRequest, payload: Payload) -> Result<HttpResponse, ApiError> {
    read_fields(&request, payload).await.map(|_fields| HttpResponse::Ok().finish())
}

async fn panics() -> HttpResponse {
    panic!("a secret of ours")
}

/// Sends `request` to a server of its own and reads until the server closes.
async fn exchange(request: &str) -> String {
    let settings = WebSettings { body_within_ms: 200, ..WebSettings::default() };
    let shared = Data::new(SharedState::new(&settings, Arc::new(SystemClock)).unwrap());
    let server = HttpServer::new(move || {
        App::new()
            .app_data(shared.clone())
            .wrap(from_fn(intake))
            .service(post("/fields", fields))
            .service(post("/panic", panics))
    })
    .workers(1)
    .disable_signals()
    .bind(("127.0.0.1", 0))
    .unwrap();
    let address = server.addrs()[0];
    let running = server.run();
    let handle = running.handle();
    actix_web::rt::spawn(running);

    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let to_its_end = client.read_to_string(&mut answer);
    tokio::time::timeout(Duration::from_secs(10), to_its_end).await.expect("the server closes").unwrap();
    handle.stop(false).await;
    answer
}

#[actix_web::test]
async fn a_body_that_does_not_arrive_in_time_is_refused_and_the_connection_closed() {
    let answer = exchange("POST /fields HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"name\":").await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("\"invalid_argument\"") && answer.contains("did not arrive"), "{answer}");
}

#[actix_web::test]
async fn a_panic_is_answered_in_the_envelope_under_the_requests_own_name() {
    let request = "POST /panic HTTP/1.1\r\nHost: x\r\nX-Request-Id: order-42\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let answer = exchange(request).await;
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
    assert!(answer.contains("x-request-id: order-42") && answer.contains("\"internal_error\""), "{answer}");
    assert!(!answer.contains("secret"));
}
