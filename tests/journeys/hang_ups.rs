//! Clients that vanish in mid-confirm: it changes nothing about the outcome.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use serde_json::json;
use socket2::SockRef;

use crate::{
    order::Order,
    shop::Shop,
    street::Street,
    town::{eventually, town},
};

#[tokio::test]
async fn a_client_that_resets_its_connection_in_mid_confirm_changes_nothing_about_the_outcome() {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    let connection = confirm_in_flight(&shop, &street, &meter, "reset-1").await;
    // With nothing left to linger for, closing is a reset.
    SockRef::from(&connection).set_linger(Some(Duration::ZERO)).unwrap();
    drop(connection);
    ends_well(&shop, &street, &meter, "reset-1").await;
}

#[tokio::test]
async fn a_client_that_closes_its_connection_in_mid_confirm_changes_nothing_about_the_outcome() {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    drop(confirm_in_flight(&shop, &street, &meter, "close-1").await);
    ends_well(&shop, &street, &meter, "close-1").await;
}

#[tokio::test]
async fn a_client_that_half_closes_its_connection_in_mid_confirm_changes_nothing_about_the_outcome() {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    let mut connection = confirm_in_flight(&shop, &street, &meter, "half-1").await;
    connection.shutdown(Shutdown::Write).unwrap();
    ends_well(&shop, &street, &meter, "half-1").await;
    connection.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
}

#[tokio::test]
async fn a_client_that_vanishes_before_its_body_is_complete_has_bought_nothing() {
    let shop = town().open_shop().await;
    let request = request(&shop, &shop.order(&town().meter()));
    let mut connection = connect();
    connection.write_all(&request.as_bytes()[..request.len() - 20]).unwrap();
    drop(connection);
    assert_eq!(shop.balance().await, "BWP 1000000.00");
    assert_eq!(shop.rows(), "0|0|0|0|0");
}

/// A confirm whose vend has begun and takes its time.
async fn confirm_in_flight(shop: &Shop, street: &Street, meter: &str, reference: &str) -> TcpStream {
    street.will(meter, &json!({ "fault": "delay", "delay_ms": 2_000 })).await;
    let mut connection = connect();
    let request = request(shop, &shop.order(meter).reference(reference));
    connection.write_all(request.as_bytes()).unwrap();
    eventually("the vend is under way", async || !street.vends(meter).await.is_empty()).await;
    assert_eq!(shop.newest_state(), "IN_FLIGHT");
    connection
}

async fn ends_well(shop: &Shop, street: &Street, meter: &str, reference: &str) {
    eventually("the purchase is settled", async || shop.newest_state() != "IN_FLIGHT").await;
    assert_eq!(shop.newest_state(), "SUCCESSFUL");
    let found = shop.retry(meter, reference).await.expect(200);
    assert_eq!(street.enters(meter, found.str("/product/token")).await, Ok("credit".to_owned()));
    assert_eq!(street.vended(meter).await, 1);
    shop.has_spent(&[found.str("/total")]).await;
}

fn connect() -> TcpStream {
    TcpStream::connect(town().facts().base_url.trim_start_matches("http://")).unwrap()
}

fn request(shop: &Shop, order: &Order) -> String {
    let body = order.body();
    format!(
        "POST /public/v1/purchases/confirm HTTP/1.1\r\nHost: town\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        shop.access_token,
        body.len()
    )
}
