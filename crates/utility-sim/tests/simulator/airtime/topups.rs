//! Top-ups, and the behaviour of every named telephone.

use std::time::Duration;

use serde_json::{Value, json};
use utility_sim::{Product, ordinary};

use super::kiosk::{BTC, Kiosk, MASCOM, ORANGE, order, phone};

#[tokio::test]
async fn a_top_up_is_answered_to_the_letter() {
    let kiosk = Kiosk::open_with(|settings| settings.airtime.balance = "100.00".to_owned()).await;
    let bought = kiosk.post(&order("a-1", MASCOM, phone("active"), "10.10")).await.unwrap();
    let id = bought.body["transactionId"].as_i64().unwrap();
    let expected = format!(
        concat!(
            r#"{{"transactionId":{id},"status":"SUCCESSFUL","operatorTransactionId":"OP{id}","#,
            r#""customIdentifier":"a-1","recipientPhone":"26771000011","senderPhone":null,"countryCode":"BW","#,
            r#""operatorId":641,"operatorName":"Mascom Botswana","#,
            r#""requestedAmount":10.1000,"requestedAmountCurrencyCode":"BWP","#,
            r#""deliveredAmount":10.1000,"deliveredAmountCurrencyCode":"BWP","#,
            r#""transactionDate":"2026-11-20 09:30:00","pinDetail":null,"#,
            r#""balanceInfo":{{"oldBalance":100.0000,"newBalance":89.9000,"currencyCode":"BWP","#,
            r#""updatedAt":"2026-11-20 09:30:00"}}}}"#,
        ),
        id = id,
    );
    assert_eq!((bought.status, bought.text), (200, expected));
    assert_eq!(kiosk.balance().await, "89.9000");
}

#[tokio::test]
async fn a_top_up_is_logged_with_all_that_a_checker_needs() {
    let kiosk = Kiosk::open().await;
    kiosk.post(&order("a-1", MASCOM, "+26771000011", "10.5")).await.unwrap();
    let vends = kiosk.vends(phone("active")).await;
    let expected = json!({
        "reference": "a-1",
        "transaction": vends[0]["transaction"],
        "subscriber": "26771000011",
        "product_type": "AIRTIME",
        "amount": "10.50",
        "currency": "BWP",
        "tokens": [],
        "at": "2026-11-20T09:30:00+02:00",
        "outcome": "vended",
    });
    assert!(vends[0]["transaction"].as_str().unwrap().parse::<u64>().is_ok(), "{vends:?}");
    assert_eq!(vends, [expected]);
}

#[tokio::test]
async fn a_number_without_an_operator_is_refused_and_costs_nothing() {
    let kiosk = Kiosk::open().await;
    let before = kiosk.balance().await;
    let refused = kiosk.buy("a-1", phone("invalid")).await;
    assert_eq!(refused.error(), (400, "INVALID_RECIPIENT_PHONE"));
    assert_eq!(refused.body["path"], "/topups");
    assert_eq!(kiosk.vends(phone("invalid")).await[0]["outcome"], "refused");
    assert_eq!(kiosk.balance().await, before);
}

#[tokio::test]
async fn an_order_that_makes_no_sense_is_refused() {
    let kiosk = Kiosk::open().await;
    let number = phone("active");
    for (operator, amount, error) in [
        (ORANGE, "10.00", (400, "INVALID_RECIPIENT_PHONE")),
        (999, "10.00", (400, "OPERATOR_UNAVAILABLE_OR_CURRENTLY_INACTIVE")),
        (MASCOM, "0.99", (400, "INVALID_AMOUNT_FOR_OPERATOR")),
        (MASCOM, "10000.01", (400, "INVALID_AMOUNT_FOR_OPERATOR")),
        (MASCOM, "10.001", (400, "INVALID_AMOUNT")),
        (MASCOM, "1e1", (400, "INVALID_AMOUNT")),
    ] {
        let refused = kiosk.post(&order(&kiosk.fresh(), operator, number, amount)).await.unwrap();
        assert_eq!(refused.error(), error, "{operator} {amount}");
    }
    assert_eq!(kiosk.post(&json!({ "operatorId": MASCOM })).await.unwrap().error(), (400, "BAD_REQUEST"));
    assert!(kiosk.vends(number).await.iter().all(|vend| vend["outcome"] == "refused"));
    for amount in ["1.00", "10000.00"] {
        assert_eq!(kiosk.post(&order(&kiosk.fresh(), MASCOM, number, amount)).await.unwrap().status, 200);
    }
}

#[tokio::test]
async fn an_account_that_is_used_up_buys_nothing_more() {
    let kiosk = Kiosk::open_with(|settings| settings.airtime.balance = "15.00".to_owned()).await;
    let number = phone("active");
    assert_eq!(kiosk.buy("a-1", number).await.status, 200);
    assert_eq!(kiosk.buy("a-2", number).await.error(), (400, "INSUFFICIENT_BALANCE"));
    let rest = kiosk.post(&order("a-3", MASCOM, number, "5.00")).await.unwrap();
    assert_eq!(rest.status, 200);
    assert_eq!(kiosk.balance().await, "0.0000");
}

#[tokio::test]
async fn what_is_processing_stays_so_for_its_time_and_then_succeeds() {
    let kiosk = Kiosk::open_with(|settings| settings.airtime.processing_ms = 30_000).await;
    let bought = kiosk.post(&order("a-1", ORANGE, phone("processing"), "10.00")).await.unwrap();
    assert_eq!(bought.state(), (200, "PROCESSING"));
    assert_eq!(bought.body["operatorTransactionId"], Value::Null);
    assert_eq!(kiosk.vends(phone("processing")).await[0]["outcome"], "vended");
    let status = format!("/topups/{}/status", bought.body["transactionId"]);

    kiosk.clock.advance(Duration::from_millis(29_999));
    assert_eq!(kiosk.get(&status).await.state(), (200, "PROCESSING"));
    assert_eq!(kiosk.states("a-1").await, ["PROCESSING"]);
    kiosk.clock.advance(Duration::from_millis(1));
    assert_eq!(kiosk.get(&status).await.state(), (200, "SUCCESSFUL"));
    assert_eq!(kiosk.states("a-1").await, ["SUCCESSFUL"]);
    assert_eq!(kiosk.vends(phone("processing")).await.len(), 1);
}

#[tokio::test]
async fn a_lost_reply_leaves_a_top_up_behind_that_is_in_the_file_already() {
    let file = std::env::temp_dir().join(format!("airtime-log-{}.jsonl", std::process::id()));
    let kiosk = Kiosk::open_with(|settings| settings.vend_log = Some(file.clone())).await;
    assert!(kiosk.post(&order("a-1", BTC, phone("lost_reply"), "10.00")).await.is_err());
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let mut line: Value = serde_json::from_str(text.trim_end()).unwrap();
    line.as_object_mut().unwrap().remove("answer").unwrap();
    assert_eq!(kiosk.vends(phone("lost_reply")).await, [line]);
    assert_eq!(kiosk.states("a-1").await, ["SUCCESSFUL"]);
}

#[tokio::test]
async fn every_ordinary_telephone_can_be_topped_up() {
    let kiosk = Kiosk::open().await;
    for number in ordinary(Product::Airtime, 3) {
        assert_eq!(kiosk.buy(&kiosk.fresh(), &number).await.state(), (200, "SUCCESSFUL"));
    }
}
