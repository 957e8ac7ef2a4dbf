//! Enquiries that buy nothing.

use serde_json::json;

use super::kiosk::{Kiosk, phone};

#[tokio::test]
async fn the_operator_of_a_number_is_found_by_its_prefix() {
    let kiosk = Kiosk::open().await;
    for (number, id, name) in [
        (phone("active"), 641, "Mascom Botswana"),
        (phone("processing"), 642, "Orange Botswana"),
        (phone("lost_reply"), 643, "BTC Botswana"),
        ("+26774123456", 641, "Mascom Botswana"),
    ] {
        let found = kiosk.get(&format!("/operators/auto-detect/phone/{number}/countries/BW")).await;
        assert_eq!(found.status, 200, "{number}");
        assert_eq!((&found.body["operatorId"], &found.body["name"]), (&json!(id), &json!(name)));
    }
}

#[tokio::test]
async fn an_operator_says_which_amounts_it_sells() {
    let kiosk = Kiosk::open().await;
    let found = kiosk.get(&format!("/operators/auto-detect/phone/{}/countries/BW", phone("active"))).await;
    assert_eq!(found.body["denominationType"], "RANGE");
    assert_eq!(found.body["supportsLocalAmounts"], true);
    assert_eq!(found.body["destinationCurrencyCode"], "BWP");
    let exact = r#""localMinAmount":1.0000,"localMaxAmount":10000.0000"#;
    assert!(found.text.contains(exact), "{}", found.text);
}

#[tokio::test]
async fn a_number_without_an_operator_is_not_found() {
    let kiosk = Kiosk::open().await;
    for number in [phone("invalid"), "2677100001", "27710000111", "hello"] {
        let refused = kiosk.get(&format!("/operators/auto-detect/phone/{number}/countries/BW")).await;
        assert_eq!(refused.error(), (404, "COULD_NOT_AUTO_DETECT_OPERATOR"), "{number}");
    }
    let abroad = kiosk.get(&format!("/operators/auto-detect/phone/{}/countries/ZA", phone("active"))).await;
    assert_eq!(abroad.error(), (404, "COUNTRY_NOT_SUPPORTED"));
}

#[tokio::test]
async fn the_operators_of_the_country_are_listed() {
    let kiosk = Kiosk::open().await;
    let listed = kiosk.get("/operators/countries/BW").await;
    let ids: Vec<_> = listed.body.as_array().unwrap().iter().map(|one| one["operatorId"].clone()).collect();
    assert_eq!(ids, [641, 642, 643]);
    assert_eq!(kiosk.get("/operators/countries/ZA").await.error(), (404, "COUNTRY_NOT_SUPPORTED"));
}

#[tokio::test]
async fn the_balance_is_an_exact_number() {
    let kiosk = Kiosk::open_with(|settings| settings.airtime.balance = "100.10".to_owned()).await;
    let answer = kiosk.get("/accounts/balance").await;
    let expected = r#"{"balance":100.1000,"currencyCode":"BWP","updatedAt":"2026-11-20 09:30:00"}"#;
    assert_eq!(answer.text, expected);
}

#[tokio::test]
async fn an_error_says_what_and_where() {
    let kiosk = Kiosk::open().await;
    let refused = kiosk.get("/operators/nothing").await;
    let expected = json!({
        "timeStamp": "2026-11-20 09:30:00",
        "message": "There is no such path",
        "path": "/operators/nothing",
        "errorCode": "RESOURCE_NOT_FOUND",
        "infoLink": null,
        "details": [],
    });
    assert_eq!((refused.status, refused.body), (404, expected));
}
