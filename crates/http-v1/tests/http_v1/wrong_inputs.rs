//! Every wrong input gets the right code and names the right field. A right input is read exactly.

use serde_json::{Map, Value, json};

use http_v1::requests::{login_request, purchase_request, refresh_request, retry_question};
use ledger::AccountId;
use purchase::{NotificationFlags, PurchaseRequest, SourceChannel};
use test_kit::fields::REQUIRED_FOR_A_PURCHASE;
use vend::{Product, SubscriberIdentifier};
use web::{ApiError, ClientHeader, Fields};

const RIGHT: &str = r#"{
    "source_channel": "WEB",
    "language": "en-BW",
    "product_type": "ELECTRICITY",
    "provider_code": "BPC",
    "debited_account_id": 7,
    "beneficiary_phone_number": "26771234567",
    "subscriber_identifier": "04257670465",
    "amount": 100.50,
    "currency": "BWP"
}"#;

fn read(body: &str) -> Result<PurchaseRequest, ApiError> {
    Fields::parse(body.as_bytes()).and_then(|fields| purchase_request(&fields))
}

/// The right body with the raw JSON text of one field replaced or added.
fn with(field: &str, raw: &str) -> String {
    let mut lines: Vec<String> = RIGHT
        .lines()
        .filter(|line| line.contains(':') && !line.trim_start().starts_with(&format!("\"{field}\"")))
        .map(|line| line.trim_end_matches(',').to_owned())
        .collect();
    lines.push(format!("\"{field}\": {raw}"));
    format!("{{{}}}", lines.join(","))
}

/// The answer to an integrator: code and field. It is not retryable.
fn told<T: std::fmt::Debug>(outcome: Result<T, ApiError>) -> (String, Option<String>) {
    let error = outcome.expect_err("this must be refused");
    assert!(!error.is_retryable(), "{error}");
    (error.code().to_string(), error.param().map(ToOwned::to_owned))
}

fn assert_told(body: &str, code: &str, field: &str) {
    assert_eq!(told(read(body)), (code.to_owned(), Some(field.to_owned())), "{body}");
}

#[test]
fn a_right_request_is_read_exactly() {
    let request = read(RIGHT).unwrap();
    let expected = PurchaseRequest {
        source_channel: SourceChannel::Web,
        source_tag: None,
        language: "en-BW".to_owned(),
        product: Product::Electricity,
        provider_code: "BPC".to_owned(),
        debited_account: AccountId(7),
        beneficiary_phone_number: "26771234567".to_owned(),
        subscriber: SubscriberIdentifier::parse("04257670465").unwrap(),
        amount: money::Money::parse_wire("BWP 100.50").unwrap(),
        charges_on_top: true,
        comment: None,
        external_reference: None,
        notifications: NotificationFlags::default(),
    };
    assert_eq!(request, expected);
}

#[test]
fn optional_fields_are_taken_and_unknown_ones_ignored() {
    let mut body: Map<String, Value> = serde_json::from_str(RIGHT).unwrap();
    body.insert("charges_on_top_flag".to_owned(), json!(false));
    body.insert("comment".to_owned(), json!("Für Thandi"));
    body.insert("external_reference".to_owned(), json!("INV-1"));
    body.insert("send_beneficiary_sms".to_owned(), json!(false));
    body.insert("colour".to_owned(), json!({"of": ["anything"]}));
    let request = read(&Value::Object(body).to_string()).unwrap();
    assert!(!request.charges_on_top);
    assert_eq!(request.comment.as_deref(), Some("Für Thandi"));
    assert_eq!(request.external_reference.as_deref(), Some("INV-1"));
    let silenced = NotificationFlags { beneficiary_sms: false, ..NotificationFlags::default() };
    assert_eq!(request.notifications, silenced);
}

#[test]
fn a_required_field_that_is_absent_or_null_is_missing() {
    for field in REQUIRED_FOR_A_PURCHASE {
        let mut body: Map<String, Value> = serde_json::from_str(RIGHT).unwrap();
        body.remove(field);
        assert_told(&Value::Object(body).to_string(), "missing_field", field);
        assert_told(&with(field, "null"), "missing_field", field);
    }
}

#[test]
fn the_first_field_that_is_wrong_is_the_one_reported() {
    assert_told("{}", "missing_field", "source_channel");
    assert_told(r#"{"amount":"x","language":1,"source_channel":"WEB"}"#, "invalid_argument", "language");
}

#[test]
fn null_in_an_optional_field_is_the_same_as_nothing() {
    for field in ["comment", "external_reference", "charges_on_top_flag", "send_requester_email"] {
        assert_eq!(read(&with(field, "null")).unwrap(), read(RIGHT).unwrap(), "{field}");
    }
}

#[test]
fn a_wrong_type_is_an_invalid_argument_of_that_field() {
    for (field, raw) in [
        ("source_channel", "1"),
        ("language", "[]"),
        ("product_type", "true"),
        ("provider_code", "{}"),
        ("debited_account_id", "\"7\""),
        ("debited_account_id", "7.5"),
        ("debited_account_id", "1e3"),
        ("debited_account_id", "99999999999999999999"),
        ("beneficiary_phone_number", "26771234567"),
        ("subscriber_identifier", "4257670465"),
        ("currency", "1"),
        ("charges_on_top_flag", "\"true\""),
        ("charges_on_top_flag", "1"),
        ("comment", "5"),
        ("external_reference", "5"),
        ("send_requester_sms", "0"),
    ] {
        assert_told(&with(field, raw), "invalid_argument", field);
    }
}

#[test]
fn an_unknown_value_is_an_invalid_argument_of_that_field() {
    for (field, raw) in [
        ("source_channel", "\"web\""),
        ("source_channel", "\"SMS_MO\""),
        ("source_channel", "\"\""),
        ("product_type", "\"GAS\""),
        ("language", "\"english please\""),
        ("currency", "\"bwp\""),
        ("currency", "\"PULA\""),
    ] {
        assert_told(&with(field, raw), "invalid_argument", field);
    }
}

#[test]
fn only_a_positive_number_of_two_decimals_is_an_amount() {
    for raw in [
        "\"100\"",
        "1e400",
        "1e99999999999999999999",
        "1e-3",
        "1e-99999999999999999999",
        "-1e2",
        "\"1e2\"",
        "-0",
        "-0.0",
        "-1",
        "0",
        "0.00",
        "0.001",
        "100.505",
        "1234567890123",
        "true",
        "[100]",
        "{}",
    ] {
        assert_told(&with("amount", raw), "invalid_amount", "amount");
    }
    for raw in ["NaN", "01", "1.", ".5", "+1", "-", "Infinity", "-Infinity", "0x10", "1_000", "1e", "1E+"] {
        assert_told(&with("amount", raw), "invalid_amount", "amount");
        let in_the_middle = RIGHT.replace("100.50", raw);
        assert_told(&in_the_middle, "invalid_amount", "amount");
    }
    for hundred in ["100", "100.000", "1E2", "1e+2", "10e1", "0.1e3", "10000e-2"] {
        assert_eq!(read(&with("amount", hundred)).unwrap().amount.to_string(), "BWP 100.00", "{hundred}");
    }
    assert_eq!(read(&with("amount", "999999999999.990")).unwrap().amount.to_string(), "BWP 999999999999.99");
}

#[test]
fn an_amount_never_passes_through_a_float() {
    // The nearest double of the first is 90071992547.40993: exact in text, and no other amount.
    for (raw, exact) in [("90071992547.41", "BWP 90071992547.41"), ("0.1", "BWP 0.10"), ("1.10", "BWP 1.10")]
    {
        assert_eq!(read(&with("amount", raw)).unwrap().amount.to_string(), exact);
    }
}

#[test]
fn a_phone_number_that_cannot_exist_is_an_invalid_msisdn() {
    for raw in ["\"\"", "\"123\"", "\"abc\"", "\"267 71 234 567\"", "\"+\"", "\"2677\\u000012345\""] {
        assert_told(&with("beneficiary_phone_number", raw), "invalid_msisdn", "beneficiary_phone_number");
    }
    for raw in ["\"+26771234567\"", "\"71234567\""] {
        let request = read(&with("beneficiary_phone_number", raw)).unwrap();
        assert_eq!(request.beneficiary_phone_number, "26771234567");
    }
}

#[test]
fn invisible_characters_are_refused_wherever_text_is_kept() {
    for raw in [
        r#""a\u0000b""#,
        r#""a\u000bb""#,
        r#""a\u007fb""#,
        r#""a\u0085b""#,
        r#""a\u202eb""#,
        r#""a\u2066b""#,
        r#""a\ufeffb""#,
        r#""a\ud800b""#,
    ] {
        for field in ["provider_code", "comment", "external_reference", "subscriber_identifier"] {
            assert_told(&with(field, raw), "invalid_argument", field);
        }
    }
}

#[test]
fn a_comment_alone_may_hold_line_breaks_and_tabs() {
    let raw = r#""one\r\n\ttwo""#;
    assert_eq!(read(&with("comment", raw)).unwrap().comment.as_deref(), Some("one\r\n\ttwo"));
    for field in ["provider_code", "external_reference", "subscriber_identifier"] {
        assert_told(&with(field, raw), "invalid_argument", field);
    }
}

#[test]
fn a_body_that_breaks_elsewhere_is_told_by_its_place() {
    for body in [with("debited_account_id", "NaN"), RIGHT.replace("100.50", "\"x"), RIGHT.replace('}', "")] {
        assert_eq!(told(read(&body)), ("invalid_argument".to_owned(), None), "{body}");
    }
}

#[test]
fn a_raw_control_character_is_no_json() {
    let body = RIGHT.replace("BPC", "B\u{1}PC");
    assert_eq!(told(read(&body)).0, "invalid_argument");
}

#[test]
fn texts_have_a_length_in_characters() {
    for (field, max) in [("comment", 500), ("external_reference", 100), ("provider_code", 64)] {
        assert!(read(&with(field, &format!("\"{}\"", "ä".repeat(max)))).is_ok(), "{field}");
        assert_told(&with(field, &format!("\"{}\"", "ä".repeat(max + 1))), "invalid_argument", field);
    }
}

#[test]
fn an_identifier_that_no_meter_has_is_an_invalid_meter_number() {
    for raw in ["\"0425 7670465\"", "\"04257<670465\"", "\"٠٤٢٥٧٦٧٠٤٦٥\""] {
        assert_told(&with("subscriber_identifier", raw), "invalid_meter_number", "subscriber_identifier");
    }
    let airtime = with("subscriber_identifier", "\"0425 7670465\"").replace("ELECTRICITY", "AIRTIME");
    assert_told(&airtime, "invalid_argument", "subscriber_identifier");
    assert_told(&with("subscriber_identifier", "\"\""), "invalid_argument", "subscriber_identifier");
}

#[test]
fn a_repeated_key_is_refused_even_where_the_field_is_unknown() {
    let twice = RIGHT.replace("\"amount\": 100.50", "\"amount\": 100.50, \"amount\": 1");
    assert_told(&twice, "invalid_argument", "amount");
    let nested = with("colour", r#"{"red": 1, "red": 2}"#);
    assert_told(&nested, "invalid_argument", "red");
}

#[test]
fn a_retry_needs_its_four_fields() {
    let right = json!({
        "source_channel": "POS",
        "language": "fr",
        "subscriber_identifier": "04257670465",
        "external_reference": "INV-1",
    });
    let read =
        |body: &Value| Fields::parse(body.to_string().as_bytes()).and_then(|fields| retry_question(&fields));
    let request = read(&right).unwrap();
    assert_eq!((request.subscriber.as_str(), request.external_reference.as_str()), ("04257670465", "INV-1"));
    for field in ["source_channel", "language", "subscriber_identifier", "external_reference"] {
        let mut body = right.clone();
        body.as_object_mut().unwrap().remove(field);
        assert_eq!(told(read(&body)), ("missing_field".to_owned(), Some(field.to_owned())));
    }
}

#[test]
fn a_login_names_the_credential_that_is_missing_and_never_shows_one() {
    let right = json!({
        "client_id": "c", "client_secret": "hush-1", "grant_type": "password", "identifier": "i",
        "secret_pass": "hush-2", "org_code": "o", "source_channel": "WEB",
    });
    let read =
        |body: &Value| Fields::parse(body.to_string().as_bytes()).and_then(|fields| login_request(&fields));
    assert!(!format!("{:?}", read(&right).unwrap()).contains("hush"));
    for field in ["client_id", "client_secret", "grant_type", "identifier", "secret_pass", "org_code"] {
        let mut body = right.clone();
        body.as_object_mut().unwrap().remove(field);
        assert_eq!(told(read(&body)), ("missing_field".to_owned(), Some(field.to_owned())));
    }
    for (field, value) in [("grant_type", "refresh_token"), ("source_channel", "FAX")] {
        let mut body = right.clone();
        body[field] = json!(value);
        assert_eq!(told(read(&body)), ("invalid_argument".to_owned(), Some(field.to_owned())));
    }
}

#[test]
fn a_credential_of_the_wrong_type_is_not_quoted_even_in_our_own_log() {
    let body = br#"{"client_id": "c", "client_secret": 314159265}"#;
    let fields = Fields::parse(body).unwrap();
    let error = login_request(&fields).unwrap_err();
    assert!(!format!("{fields:?} {error:?}").contains("314159265"));
}

#[test]
fn a_refresh_has_a_grant_of_its_own() {
    let body = json!({
        "client_id": "c", "client_secret": "s", "grant_type": "password", "refresh_token": "r",
    });
    let outcome = Fields::parse(body.to_string().as_bytes())
        .and_then(|fields| refresh_request(&fields, &ClientHeader::Absent));
    assert_eq!(told(outcome), ("invalid_argument".to_owned(), Some("grant_type".to_owned())));
}
