//! The exact JSON of every answer: names, order, presence, form of money. It is frozen: a test that fails here is never
//! corrected by changing its expectation.

use actix_web::http::header::HeaderValue;
use error_codes::ErrorCode;
use http_legacy::{Current, wire};
use ledger::{AccountId, Category};
use money::Currency;
use purchase::{PurchaseId, Record, Reference, SourceChannel, State, Success, UserId};
use test_kit::wire_form::{
    self, assert_json, breakdown, bwp, caller, lifecycle, noon, price, request, units,
};
use vending::Quote;
use web::{ErrorDetails, RequestId, Surface};

/// A purchase over a channel that only this surface has.
fn record() -> Record {
    Record { source_channel: SourceChannel::SmsMo, ..wire_form::record() }
}

fn quote() -> Quote {
    Quote {
        id: PurchaseId(42),
        reference: Reference::new(PurchaseId(42), 2026, 11),
        price: price(),
        subscriber_details: Some("T MOLEFE".to_owned()),
        units: Some(units()),
        breakdown: Some(breakdown()),
        at: noon(),
    }
}

#[test]
fn a_quote_has_no_reference_no_payer_no_token_and_no_metadata() {
    assert_json(
        &wire::Transaction::quoted(&request(), quote(), &caller()),
        r#"{"id":42,"channel":"WEB","status":"ON_GOING","type":"TOPUP",
        "operator":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "requester":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "payer":{},
        "beneficiary":{"id":0,"full_name":"","phone_number":"26771234567","status":"","address":""},
        "total":"BWP 102.00","net":"BWP 100.00","charge":"BWP 2.00","commission":"BWP 1.50","entry":"BWP 100.00",
        "meter_number":"04257670465","meter_details":"T MOLEFE","metadata":{}}"#,
    );
}

#[test]
fn the_details_of_a_meter_are_a_text_even_where_there_are_none() {
    let nameless = Quote { subscriber_details: None, ..quote() };
    let json = serde_json::to_value(wire::Transaction::quoted(&request(), nameless, &caller())).unwrap();
    assert_eq!(json["meter_details"], "");
    let nameless = Record { subscriber_details: None, ..record() };
    let json = serde_json::to_value(wire::Transaction::made(&nameless, &caller())).unwrap();
    assert_eq!(
        (&json["meter_details"], &json["metadata"]["provider_meter_details"]),
        (&"".into(), &"".into())
    );
}

#[test]
fn a_successful_purchase_has_all_its_tokens_in_order() {
    assert_json(
        &wire::Transaction::made(&record(), &caller()),
        r#"{"id":42,"reference":"TOP/2026/11/0000000042","channel":"SMS_MO","status":"SUCCESSFUL","type":"TOPUP",
        "operator":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "requester":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "payer":{"id":3,"full_name":"Kgalagadi Shops","phone_number":"","username":"KGALAGADI","status":"ACTIVE"},
        "beneficiary":{"id":0,"full_name":"","phone_number":"26771234567","status":"","address":""},
        "total":"BWP 102.00","net":"BWP 100.00","charge":"BWP 2.00","commission":"BWP 1.50","entry":"BWP 100.00",
        "meter_number":"04257670465","meter_details":"T MOLEFE",
        "token":"KeyChange Token1: 50193837188098045115|Credit Token: 08086259498974263587",
        "electricity_units":"45.2 kWh",
        "metadata":{"vat":"BWP 12.00","levy":"BWP 5.00","regulatory_fee":"BWP 1.00","charge":"BWP 2.00",
        "cost":"BWP 80.00","provider_meter_details":"T MOLEFE","provider_transaction_identifier":"R-9"}}"#,
    );
}

#[test]
fn an_open_purchase_is_pending_and_shows_no_token() {
    let open = Record { lifecycle: lifecycle(State::RetryDue), success: None, ..record() };
    assert_json(
        &wire::Transaction::made(&open, &caller()),
        r#"{"id":42,"reference":"TOP/2026/11/0000000042","channel":"SMS_MO","status":"PENDING","type":"TOPUP",
        "operator":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "requester":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "payer":{"id":3,"full_name":"Kgalagadi Shops","phone_number":"","username":"KGALAGADI","status":"ACTIVE"},
        "beneficiary":{"id":0,"full_name":"","phone_number":"26771234567","status":"","address":""},
        "total":"BWP 102.00","net":"BWP 100.00","charge":"BWP 2.00","commission":"BWP 1.50","entry":"BWP 100.00",
        "meter_number":"04257670465","meter_details":"T MOLEFE","metadata":{}}"#,
    );
}

#[test]
fn a_vend_without_a_receipt_has_empty_units_and_no_breakdown() {
    let success = record().success.map(|success| Success { units: None, breakdown: None, ..success });
    let json =
        serde_json::to_value(wire::Transaction::made(&Record { success, ..record() }, &caller())).unwrap();
    assert_eq!(json["status"], "SUCCESSFUL");
    assert_eq!(json["electricity_units"], "");
    assert_eq!(
        json["metadata"].to_string(),
        r#"{"provider_meter_details":"T MOLEFE","provider_transaction_identifier":"R-9"}"#
    );
}

#[test]
fn another_user_does_not_see_which_user_bought() {
    let bought_by_another = Record { user: UserId(5), ..record() };
    let json = serde_json::to_value(wire::Transaction::made(&bought_by_another, &caller())).unwrap();
    assert!(json.get("operator").is_none() && json.get("requester").is_none());
    assert_eq!(json["payer"]["id"], 3);
}

#[test]
fn me_is_an_actor_a_role_an_organisation_and_its_accounts() {
    let account = ledger::Account {
        id: AccountId(7),
        name: "Shop float".to_owned(),
        currency: Currency::parse("BWP").unwrap(),
        category: Category::TopUp,
        rank: 2,
        available: bwp("1000000.00"),
    };
    assert_json(
        &wire::Me::new(&caller(), vec![account]),
        r#"{"actor":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "role":{"code":"VIEWER","name":"Viewer",
        "permissions":["accounts.read","products.read","purchases.validate","purchases.read"]},
        "organisation":{"id":3,"code":"KGALAGADI","name":"Kgalagadi Shops","environment":"STAGING"},
        "accounts":[{"id":7,"name":"Shop float","currency":"BWP","category":"TOPUP","type":"WALLET",
        "status":"ACTIVE","rank":2,"balance":"BWP 1000000.00"}]}"#,
    );
}

#[test]
fn an_error_has_its_five_fields_and_names_the_field_that_is_to_blame() {
    let request_id = RequestId::accept_or_generate(Some(&HeaderValue::from_static("till-7/42")));
    let error = ErrorDetails {
        code: ErrorCode::InvalidMeterNumber,
        message: "Not a meter.",
        field: Some("meter_number"),
        is_retryable: false,
        doc_url: "https://api.example.com/docs/errors/invalid_meter_number",
        request_id: &request_id,
        at: noon(),
        recovery: None,
        buy_again: None,
        lines: &[],
    };
    assert_eq!(
        Current.error_body(&error),
        r#"{"response_code":"invalid_meter_number","response_message":"Not a meter.","timestamp":1795168800000,"#
            .to_owned()
            + r#""developer_message":"invalid_meter_number; request id till-7/42","#
            + r#""errors":{"meter_number":"Not a meter."}}"#
    );
    let about_nothing = Current.error_body(&ErrorDetails { field: None, ..error });
    assert!(about_nothing.ends_with(r#""errors":{}}"#), "{about_nothing}");
}

/// If the versioned surface gets a new code, this surface must answer with one of these instead.
#[test]
fn the_codes_are_these_and_no_others() {
    let frozen = [
        "invalid_credentials",
        "missing_permission",
        "forbidden",
        "meter_not_allowed",
        "retries_disabled",
        "missing_field",
        "invalid_argument",
        "invalid_msisdn",
        "invalid_meter_number",
        "invalid_amount",
        "amount_below_minimum",
        "amount_above_maximum",
        "amount_below_charges",
        "method_not_allowed",
        "resource_not_found",
        "meter_not_found",
        "transaction_not_found",
        "insufficient_balance",
        "duplicate_request",
        "transaction_pending",
        "meter_blocked",
        "meter_unsupported",
        "merchant_credit_exhausted",
        "provider_busy",
        "provider_error",
        "provider_timeout",
        "provider_unavailable",
        "upstream_error",
        "internal_error",
        "rate_limited",
    ];
    let mut newer = ErrorCode::ALL.map(ErrorCode::as_str).to_vec();
    newer.retain(|code| !frozen.contains(code));
    assert_eq!(newer, ["certificates_disabled"], "a newer code, which no request of this surface can meet");
    assert_eq!(ErrorCode::ALL.len(), frozen.len() + newer.len());
}

#[test]
fn the_meter_has_another_name_here_and_every_other_field_its_own() {
    assert_eq!(Current.field("subscriber_identifier"), "meter_number");
    for field in ["amount", "meter_number", "beneficiary_phone_number", "debited_account_id"] {
        assert_eq!(Current.field(field), field);
    }
}

#[test]
fn deprecation_is_told_as_the_standard_has_it() {
    let headers = Current.headers("https://api.example.com");
    let fields: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    let guide = r#"<https://api.example.com/docs/migrating>; rel="deprecation"; type="text/html""#;
    assert_eq!(fields, [("deprecation", "@1795132800"), ("link", guide)]);
}
