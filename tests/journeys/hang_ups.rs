//! Clients that disconnect during a confirm do not change its outcome.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use serde_json::json;
use socket2::SockRef;

use crate::{
    env::{env, eventually},
    merchant::Merchant,
    request_body::RequestBody,
    simulator::SimulatorClient,
};

#[tokio::test]
async fn a_connection_reset_during_a_confirm_does_not_change_the_outcome() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let connection = confirm_in_flight(&merchant, &simulator, &meter, "reset-1").await;
    // With a linger time of zero, closing resets the connection.
    SockRef::from(&connection).set_linger(Some(Duration::ZERO)).unwrap();
    drop(connection);
    ends_well(&merchant, &simulator, &meter, "reset-1").await;
}

#[tokio::test]
async fn a_connection_closed_during_a_confirm_does_not_change_the_outcome() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    drop(confirm_in_flight(&merchant, &simulator, &meter, "close-1").await);
    ends_well(&merchant, &simulator, &meter, "close-1").await;
}

#[tokio::test]
async fn a_connection_half_closed_during_a_confirm_does_not_change_the_outcome() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let mut connection = confirm_in_flight(&merchant, &simulator, &meter, "half-1").await;
    connection.shutdown(Shutdown::Write).unwrap();
    ends_well(&merchant, &simulator, &meter, "half-1").await;
    connection.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
}

#[tokio::test]
async fn a_client_that_vanishes_before_its_body_is_complete_has_bought_nothing() {
    let merchant = env().open_merchant().await;
    let request = request(&merchant, &merchant.order(&env().meter()));
    let mut connection = connect();
    connection.write_all(&request.as_bytes()[..request.len() - 20]).unwrap();
    drop(connection);
    assert_eq!(merchant.balance().await, "BWP 1000000.00");
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

/// A confirm whose vend has begun and takes two seconds.
async fn confirm_in_flight(
    merchant: &Merchant,
    simulator: &SimulatorClient,
    meter: &str,
    reference: &str,
) -> TcpStream {
    simulator.will(meter, &json!({ "fault": "delay", "delay_ms": 2_000 })).await;
    let mut connection = connect();
    let request = request(merchant, &merchant.order(meter).reference(reference));
    connection.write_all(request.as_bytes()).unwrap();
    eventually("the vend is under way", async || !simulator.vends(meter).await.is_empty()).await;
    assert_eq!(merchant.newest_state(), "IN_FLIGHT");
    connection
}

async fn ends_well(merchant: &Merchant, simulator: &SimulatorClient, meter: &str, reference: &str) {
    eventually("the purchase is settled", async || merchant.newest_state() != "IN_FLIGHT").await;
    assert_eq!(merchant.newest_state(), "SUCCESSFUL");
    let found = merchant.retry(meter, reference).await.expect(200);
    assert_eq!(simulator.enters(meter, found.str("/product/token")).await, Ok("credit".to_owned()));
    assert_eq!(simulator.vended(meter).await, 1);
    merchant.has_spent(&[found.str("/total")]).await;
}

fn connect() -> TcpStream {
    TcpStream::connect(env().info().base_url.trim_start_matches("http://")).unwrap()
}

fn request(merchant: &Merchant, order: &RequestBody) -> String {
    let body = order.body();
    format!(
        "POST /public/v1/purchases/confirm HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        merchant.access_token,
        body.len()
    )
}
