//! The differences in what this surface reads: the meter, the channels, the sender's date, and no product or provider.
//! The rest is read and tested with the code of the versioned surface.

use http_legacy::requests::{TopUp, login_request, retry_question, top_up};
use purchase::{NotificationFlags, PurchaseRequest, SourceChannel};
use serde_json::{Map, Value, json};
use vend::Product;
use vending::RetryScope;
use web::{ApiError, Fields};

const RIGHT: &str = r#"{
    "source_channel": "SMS_MO",
    "language": "en-BW",
    "source_tag": "gateway-7",
    "debited_account_id": 7,
    "beneficiary_phone_number": "26771234567",
    "meter_number": "04257670465",
    "amount": 100.50,
    "currency": "BWP",
    "date": "2026-11-20 13:00:00"
}"#;

/// The right body, with some members replaced or added.
fn with(changes: &Value) -> String {
    let mut body: Map<String, Value> = serde_json::from_str(RIGHT).expect("a JSON object");
    body.extend(changes.as_object().cloned().unwrap_or_default());
    Value::from(body).to_string()
}

fn read(body: &str) -> Result<TopUp, ApiError> {
    Fields::parse(body.as_bytes()).and_then(|fields| top_up(&fields))
}

/// The purchase, and whether validate is hard.
fn wanted(body: &str) -> (PurchaseRequest, bool) {
    let top_up = read(body).expect("a right body");
    let is_hard = top_up.hard_validate;
    (top_up.from("BPC".to_owned()), is_hard)
}

fn told<T: std::fmt::Debug>(outcome: Result<T, ApiError>) -> (String, Option<String>) {
    let error = outcome.expect_err("this must be refused");
    (error.code().to_string(), error.param().map(ToOwned::to_owned))
}

#[test]
fn a_right_request_buys_electricity_from_the_given_provider() {
    let (request, hard_validate) = wanted(RIGHT);
    assert_eq!((request.product, request.provider_code.as_str()), (Product::Electricity, "BPC"));
    assert_eq!(request.source_channel, SourceChannel::SmsMo);
    assert_eq!(request.source_tag.as_deref(), Some("gateway-7"));
    assert_eq!(request.subscriber.as_str(), "04257670465");
    assert_eq!(request.amount.to_string(), "BWP 100.50");
    assert_eq!(request.notifications, NotificationFlags::default());
    assert!(request.charges_on_top && !hard_validate);
}

#[test]
fn optional_fields_are_taken_and_those_of_the_versioned_surface_are_ignored() {
    let body = with(&json!({
        "hard_validate": true, "charges_on_top_flag": false, "comment": "For Thandi", "external_reference": "INV-1",
        "send_requester_sms": false, "product_type": "GAS", "provider_code": 7, "subscriber_identifier": [],
        "source_tag": null, "date": null,
    }));
    let (request, hard_validate) = wanted(&body);
    assert!(hard_validate && !request.charges_on_top && !request.notifications.requester_sms);
    assert_eq!(
        (request.comment.as_deref(), request.external_reference.as_deref()),
        (Some("For Thandi"), Some("INV-1"))
    );
    assert_eq!((request.product, request.source_tag), (Product::Electricity, None));
}

#[test]
fn a_required_field_that_is_absent_is_missing() {
    for field in [
        "source_channel",
        "language",
        "debited_account_id",
        "beneficiary_phone_number",
        "meter_number",
        "amount",
        "currency",
    ] {
        let body = with(&json!({ field: null }));
        assert_eq!(told(read(&body)), ("missing_field".to_owned(), Some(field.to_owned())));
    }
}

#[test]
fn what_is_wrong_is_told_by_its_own_name() {
    let long = "x".repeat(101);
    for (field, value) in [
        ("source_channel", json!("POS")),
        ("source_tag", json!(7)),
        ("source_tag", json!(long)),
        ("source_tag", json!("a\u{202e}b")),
        ("hard_validate", json!("true")),
        ("date", json!("2026-11-20T13:00:00")),
        ("date", json!("2026-13-20 13:00:00")),
        ("date", json!(1_795_172_400)),
        ("meter_number", json!(4_257_670_465_i64)),
        ("send_beneficiary_email", json!(0)),
    ] {
        let body = with(&json!({ field: value }));
        assert_eq!(told(read(&body)), ("invalid_argument".to_owned(), Some(field.to_owned())), "{body}");
    }
}

#[test]
fn a_retry_asks_among_electricity_and_reads_tag_and_date_as_strictly() {
    let right = json!({
        "source_channel": "USSD", "language": "pt", "meter_number": "04257670465", "external_reference": "INV-1",
        "source_tag": "gateway-7", "date": "2026-11-20 13:00:00",
    });
    let read =
        |body: &Value| Fields::parse(body.to_string().as_bytes()).and_then(|fields| retry_question(&fields));
    let question = read(&right).unwrap();
    assert_eq!((question.subscriber.as_str(), question.scope), ("04257670465", RetryScope::ElectricityOnly));
    let changed = |field: &str, value: Value| {
        let mut body = right.as_object().cloned().unwrap_or_default();
        body.insert(field.to_owned(), value);
        told(read(&body.into()))
    };
    for field in ["source_channel", "language", "meter_number", "external_reference"] {
        assert_eq!(changed(field, Value::Null), ("missing_field".to_owned(), Some(field.to_owned())));
    }
    for (field, value) in
        [("date", json!("yesterday")), ("source_tag", json!({})), ("meter_number", json!("1<2"))]
    {
        assert_eq!(changed(field, value), ("invalid_argument".to_owned(), Some(field.to_owned())));
    }
}

#[test]
fn a_login_may_come_by_a_text_message_and_not_from_a_point_of_sale() {
    let login = |channel: &str| {
        let body = json!({
            "client_id": "c", "client_secret": "s", "grant_type": "password", "identifier": "i", "secret_pass": "p",
            "org_code": "o", "source_channel": channel,
        });
        Fields::parse(body.to_string().as_bytes()).and_then(|fields| login_request(&fields))
    };
    assert!(login("SMS_MO").is_ok());
    assert_eq!(told(login("POS")), ("invalid_argument".to_owned(), Some("source_channel".to_owned())));
}
