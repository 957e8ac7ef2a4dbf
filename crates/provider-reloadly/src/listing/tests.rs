//! What the vendor may write in its list, and what is read of it.

use chrono_tz::Africa::Gaborone;
use money::{Currency, Money};
use phonenumber::country::BW;
use provider_http::header::HeaderMap;
use serde_json::{Value, json};

use super::*;
use crate::fault::FaultCodes;

fn money(code: &str, minor: i64) -> Money {
    Money::from_minor(minor, Currency::parse(code).unwrap())
}

fn rules(account_currency: &str) -> Rules {
    Rules {
        country: BW,
        currency: Currency::parse("BWP").unwrap(),
        account_currency: Currency::parse(account_currency).unwrap(),
        fault_codes: FaultCodes::new(&[]).unwrap(),
        report_time_zone: Some(Gaborone),
    }
}

/// A success, with these fields changed. `null` leaves one out.
fn top_up(changed: Value) -> Value {
    let mut top_up = json!({
        "transactionId": 4_602_843,
        "status": "SUCCESSFUL",
        "customIdentifier": "20261120093000-000042",
        "recipientPhone": "26771234567",
        "operatorId": 881,
        "requestedAmount": 10.5000,
        "requestedAmountCurrencyCode": "BWP",
        "deliveredAmount": 9.8765,
        "deliveredAmountCurrencyCode": "BWP",
        "transactionDate": "2026-11-20 11:30:02",
    });
    let Value::Object(changed) = changed else { panic!("no fields: {changed}") };
    for (field, value) in changed {
        top_up[field] = value;
    }
    top_up
}

fn read(top_up: &Value, account_currency: &str) -> Result<ListedOrder, UnreadableOrder> {
    let body = json!({"content": [top_up], "totalElements": 1}).to_string().into_bytes();
    let reply = HttpReply { status: 200, headers: HeaderMap::new(), body };
    page(&reply, &rules(account_currency), Gaborone).unwrap().orders.remove(0)
}

fn sold(changed: Value) -> ListedSale {
    match read(&top_up(changed), "BWP").unwrap().state {
        ListedState::Vended(sale) => sale,
        state @ (ListedState::StillOpen | ListedState::NotVended) => panic!("{state:?}"),
    }
}

fn unreadable(changed: Value) -> &'static str {
    read(&top_up(changed), "BWP").unwrap_err().field
}

#[test]
fn a_sale_is_read_as_a_purchase_has_it_and_its_time_is_local() {
    let order = read(&top_up(json!({})), "BWP").unwrap();
    assert_eq!(order.ordered_at.to_rfc3339(), "2026-11-20T09:30:02+00:00");
    let sale = sold(json!({}));
    assert_eq!((sale.subscriber.as_str(), sale.amount), ("26771234567", money("BWP", 1_050)));
    for phone in ["+26771234567", "71234567"] {
        assert_eq!(sold(json!({"recipientPhone": phone})).subscriber.as_str(), "26771234567", "{phone}");
    }
    let abroad = sold(json!({"recipientPhone": "+27 82 123 4567"}));
    assert_eq!(abroad.subscriber.as_str(), "27821234567", "a person can top up any country by hand");
    assert_eq!(sold(json!({"customIdentifier": null})).reference, None);
}

#[test]
fn of_an_account_in_another_currency_the_amount_of_the_sale_is_what_the_phone_got() {
    let charged = |code: &str| {
        let charged =
            json!({"requestedAmount": 0.81, "requestedAmountCurrencyCode": code, "deliveredAmount": 10.5});
        read(&top_up(charged), "USD").map(|order| order.state)
    };
    let Ok(ListedState::Vended(sale)) = charged("USD") else { panic!("{:?}", charged("USD")) };
    assert_eq!(sale.amount, money("BWP", 1_050));
    assert_eq!(charged("EUR").unwrap_err().field, "amount", "it is not the account of our settings");
}

#[test]
fn what_cannot_be_read_of_a_sale_is_named_with_its_transaction() {
    for (changed, field) in [
        (json!({"requestedAmount": 10.505}), "amount"),
        (json!({"requestedAmount": "10.50"}), "amount"),
        (json!({"requestedAmount": null}), "amount"),
        (json!({"requestedAmount": 0}), "amount"),
        (json!({"requestedAmount": -5}), "amount"),
        (json!({"requestedAmountCurrencyCode": null}), "amount"),
        (json!({"recipientPhone": null}), "recipientPhone"),
        (json!({"recipientPhone": " "}), "recipientPhone"),
        (json!({"recipientPhone": "2677123XXXX"}), "recipientPhone"),
        (json!({"recipientPhone": {}}), "recipientPhone"),
        (json!({"status": null}), "whole entry"),
        (json!({"customIdentifier": 42}), "whole entry"),
        (json!({"transactionId": "4602843"}), "whole entry"),
        (json!({"status": "REVERSED"}), "status"),
        (json!({"errorCode": "PHONE_RECENTLY_RECHARGED"}), "errorCode"),
        (json!({"transactionId": null}), "transactionId"),
        (json!({"transactionDate": "20/11/2026"}), "transactionDate"),
        (json!({"transactionDate": null}), "transactionDate"),
    ] {
        assert_eq!(unreadable(changed.clone()), field, "{changed}");
    }
    for changed in
        [json!({"status": "REVERSED"}), json!({"status": null}), json!({"transactionId": "4602843"})]
    {
        let named = read(&top_up(changed), "BWP").unwrap_err();
        assert_eq!(named.transaction.as_deref(), Some("4602843"));
    }
    let without_number = read(&top_up(json!({"transactionId": {"a": "26771234567"}})), "BWP").unwrap_err();
    assert_eq!(without_number, UnreadableOrder { transaction: None, field: "whole entry" });
}

#[test]
fn of_an_order_that_was_not_vended_only_the_transaction_and_the_time_are_needed() {
    for (status, state) in [
        ("PROCESSING", ListedState::StillOpen),
        ("FAILED", ListedState::NotVended),
        ("REFUNDED", ListedState::NotVended),
    ] {
        let bare =
            json!({"status": status, "requestedAmount": null, "recipientPhone": null, "errorCode": "X"});
        assert_eq!(read(&top_up(bare), "BWP").unwrap().state, state, "{status}");
    }
}
