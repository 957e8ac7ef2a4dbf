//! The exact JSON of every answer: names, order, presence, form of money and dates.

use std::sync::Arc;

use clock::ManualClock;
use error_codes::ErrorCode;
use http_v1::wire;
use ledger::{AccountId, Category};
use money::Currency;
use purchase::{
    Failure, Fence, Lifecycle, ProductText, PurchaseId, Record, Reference, State, SubscriberFormat, UserId,
};
use test_kit::wire_form::{
    assert_json, breakdown, bwp, caller, lifecycle, noon, price, record, request, units,
};
use vend::{Product, Refusal, RefusalReason};
use vending::{ConfirmError, PauseListing, ProductListing, ProviderListing, Quote};
use web::{Language, SharedState, WebSettings, not_confirmed};

fn shared() -> SharedState {
    SharedState::new(&WebSettings::default(), Arc::new(ManualClock::at(noon()))).unwrap()
}

#[test]
fn a_quote_has_no_payer_no_token_and_no_provider_transaction() {
    let quote = Quote {
        id: PurchaseId(42),
        reference: Reference::new(PurchaseId(42), 2026, 11),
        price: price(),
        subscriber_details: Some("T MOLEFE".to_owned()),
        units: Some(units()),
        breakdown: Some(breakdown()),
        at: noon(),
    };
    assert_json(
        &wire::Purchase::quoted(&request(), &quote, &caller(), &shared()),
        r#"{"id":42,"channel":"WEB","date":"2026-11-20 12:00:00","status":"ON_GOING","type":"TOPUP",
        "reference":"TOP/2026/11/0000000042",
        "operator":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "requester":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "payer":{},
        "beneficiary":{"id":0,"full_name":"","phone_number":"26771234567","status":""},
        "total":"BWP 102.00","net":"BWP 100.00","charge":"BWP 2.00","commission":"BWP 1.50","entry":"BWP 100.00",
        "subscriber_identifier":"04257670465","subscriber_details":"T MOLEFE",
        "product":{"type":"ELECTRICITY","provider":"BPC","units":"45.2 kWh"},
        "metadata":{"vat":"BWP 12.00","levy":"BWP 5.00","regulatory_fee":"BWP 1.00","charge":"BWP 2.00",
        "cost":"BWP 80.00","provider_subscriber_details":"T MOLEFE"}}"#,
    );
}

#[test]
fn a_successful_purchase_has_all_its_tokens_in_order() {
    assert_json(
        &wire::Purchase::made(&record(), &caller(), &shared()),
        r#"{"id":42,"channel":"POS","date":"2026-11-20 12:00:00","created_at":"2026-11-20T12:00:00.000000+02:00",
        "settled_at":"2026-11-20T12:00:02.500000+02:00","status":"SUCCESSFUL","type":"TOPUP",
        "reference":"TOP/2026/11/0000000042",
        "operator":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "requester":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "payer":{"id":3,"full_name":"Kgalagadi Shops","phone_number":"","username":"KGALAGADI","status":"ACTIVE"},
        "beneficiary":{"id":0,"full_name":"","phone_number":"26771234567","status":""},
        "total":"BWP 102.00","net":"BWP 100.00","charge":"BWP 2.00","commission":"BWP 1.50","entry":"BWP 100.00",
        "subscriber_identifier":"04257670465","subscriber_details":"T MOLEFE",
        "product":{"type":"ELECTRICITY","provider":"BPC",
        "token":"KeyChange Token1: 50193837188098045115|Credit Token: 08086259498974263587","units":"45.2 kWh"},
        "metadata":{"vat":"BWP 12.00","levy":"BWP 5.00","regulatory_fee":"BWP 1.00","charge":"BWP 2.00",
        "cost":"BWP 80.00","provider_subscriber_details":"T MOLEFE","provider_transaction_identifier":"R-9"}}"#,
    );
}

#[test]
fn an_open_purchase_is_pending_and_shows_no_token() {
    let open = Record { lifecycle: lifecycle(State::RetryDue), success: None, ..record() };
    let json = serde_json::to_value(wire::Purchase::made(&open, &caller(), &shared())).unwrap();
    assert_eq!(json["status"], "PENDING");
    assert_eq!(json["product"].to_string(), r#"{"provider":"BPC","type":"ELECTRICITY"}"#);
    assert_eq!(json["metadata"].to_string(), "{}");
}

#[test]
fn another_user_does_not_see_which_user_bought() {
    let bought_by_another = Record { user: UserId(5), ..record() };
    let json = serde_json::to_value(wire::Purchase::made(&bought_by_another, &caller(), &shared())).unwrap();
    assert!(json.get("operator").is_none() && json.get("requester").is_none());
    assert_eq!(json["payer"]["id"], 3);
}

#[test]
fn a_failure_has_one_code_and_the_status_of_its_own_confirm_only_if_that_found_it() {
    let exhausted = Failure::Refused(Refusal::because(RefusalReason::FloatExhausted));
    for (fence, status) in [(Fence::FIRST, 502), (Fence(2), 422)] {
        let lifecycle = Lifecycle { fence, ..lifecycle(State::Failed) };
        let failed = Record { lifecycle, success: None, failure: Some(exhausted.clone()), ..record() };
        let failed = Box::new(failed);
        let codes = [ConfirmError::Failed(failed.clone()), ConfirmError::FailedBefore(failed)].map(|error| {
            let error = not_confirmed(&error, Product::Electricity);
            (error.code(), error.status(), error.is_replayed())
        });
        let code = ErrorCode::MerchantCreditExhausted;
        assert_eq!(codes, [(code, status, false), (code, status, true)]);
    }
}

#[test]
fn an_account_is_an_active_wallet() {
    let account = ledger::Account {
        id: AccountId(7),
        name: "Shop float".to_owned(),
        currency: Currency::parse("BWP").unwrap(),
        category: Category::TopUp,
        rank: 2,
        available: bwp("1000000.00"),
    };
    assert_json(
        &wire::Account::from(account),
        r#"{"id":7,"name":"Shop float","currency":"BWP","category":"TOPUP","type":"WALLET","status":"ACTIVE",
        "rank":2,"balance":"BWP 1000000.00"}"#,
    );
}

#[test]
fn a_product_speaks_the_callers_language() {
    let until = Some("2026-11-20T12:00:00Z".parse().unwrap());
    let pause = PauseListing { until, notice: Some("Works".to_owned()) };
    let listing = ProductListing {
        product: Product::Electricity,
        format: SubscriberFormat::new(Some(11), Some(13), Some("^[0-9]+$")).unwrap(),
        hint: None,
        texts: Vec::new(),
        providers: vec![
            ProviderListing { code: "BPC".to_owned(), name: "Power Corporation".to_owned(), pause: None },
            ProviderListing { code: "CEC".to_owned(), name: "Copperbelt".to_owned(), pause: Some(pause) },
        ],
    };
    assert_json(
        &wire::Product::listed(listing, Language::French, &shared()),
        r#"{"product_type":"ELECTRICITY","display_name":"Électricité","subscriber_id_label":"Numéro de compteur",
        "subscriber_id_min_length":11,"subscriber_id_max_length":13,"subscriber_id_pattern":"^[0-9]+$",
        "subscriber_id_hint":"11 à 13 caractères","providers":[
        {"code":"BPC","name":"Power Corporation","availability":{"status":"AVAILABLE","resumes_at":null,"notice":null}},
        {"code":"CEC","name":"Copperbelt","availability":{"status":"PAUSED","resumes_at":"2026-11-20T14:00:00+02:00",
        "notice":"Works"}}]}"#,
    );
}

#[test]
fn a_product_is_called_what_the_operator_says_in_that_language_only() {
    let text = ProductText {
        language: "fr".to_owned(),
        display_name: None,
        subscriber_id_label: Some("Numéro de client".to_owned()),
    };
    let listing = ProductListing {
        product: Product::Water,
        format: SubscriberFormat::new(None, None, None).unwrap(),
        hint: Some("WM-…".to_owned()),
        texts: vec![ProductText { display_name: Some("Eau potable".to_owned()), ..text }],
        providers: Vec::new(),
    };
    let shown = |listing: ProductListing, language| {
        let json = serde_json::to_value(wire::Product::listed(listing, language, &shared())).unwrap();
        ["display_name", "subscriber_id_label", "subscriber_id_hint"].map(|name| json[name].clone())
    };
    assert_eq!(shown(listing.clone(), Language::French), ["Eau potable", "Numéro de client", "WM-…"]);
    assert_eq!(shown(listing.clone(), Language::English), ["Water", "Meter number", "WM-…"]);
    let mut half = listing;
    half.texts[0].display_name = None;
    half.hint = None;
    let [name, label, hint] = shown(half, Language::French);
    assert_eq!([name, label], ["Eau", "Numéro de client"]);
    assert!(hint.is_null(), "no length is known: {hint}");
}

#[test]
fn me_is_an_actor_a_role_and_an_organisation() {
    assert_json(
        &wire::Me::from(&caller()),
        r#"{"actor":{"id":4,"full_name":"Till One","phone_number":"","username":"till-1","status":"ACTIVE"},
        "role":{"code":"VIEWER","name":"Viewer",
        "permissions":["accounts.read","products.read","purchases.validate","purchases.read","webhooks.read",
            "batches.read"]},
        "organisation":{"id":3,"code":"KGALAGADI","name":"Kgalagadi Shops","environment":"STAGING"}}"#,
    );
}
