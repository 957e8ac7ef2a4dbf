//! Examples: one sale of BWP 100.00 of electricity throughout.

use serde_json::{Value, json};
use utoipa::openapi::{
    Ref, RefOr,
    example::{Example, ExampleBuilder},
};

use error_codes::{ErrorCode, Retryable};

use crate::{batches, certificate, webhooks};
use http_v1::Endpoint;

/// A login.
pub(crate) fn login() -> Value {
    json!({
        "client_id": "cl_3f9a2b7c", "client_secret": "the secret that was shown once", "grant_type": "password",
        "identifier": "till", "secret_pass": "correct horse battery", "org_code": "SANDBOX", "source_channel": "POS",
    })
}

/// A refresh.
pub(crate) fn refresh() -> Value {
    json!({
        "client_id": "cl_3f9a2b7c", "client_secret": "the secret that was shown once",
        "grant_type": "refresh_token", "refresh_token": "vg_test_rt_5Qk2",
    })
}

/// A purchase.
pub(crate) fn purchase() -> Value {
    json!({
        "source_channel": "POS", "language": "en-BW", "product_type": "ELECTRICITY", "provider_code": "BPC",
        "debited_account_id": 1, "beneficiary_phone_number": "26771234567",
        "subscriber_identifier": "07000010012", "amount": 100.00, "currency": "BWP",
        "external_reference": "SALE-2026-000187",
    })
}

/// A retry.
pub(crate) fn retry() -> Value {
    json!({
        "source_channel": "POS", "language": "en-BW", "subscriber_identifier": "07000010012",
        "external_reference": "SALE-2026-000187",
    })
}

/// A message that is sent again.
pub(crate) fn message() -> Value {
    json!({ "phone_number": "26771234568" })
}

/// The name of the example of a successful answer.
pub(crate) const fn success(endpoint: Endpoint) -> Option<&'static str> {
    match endpoint {
        Endpoint::Login | Endpoint::Refresh => Some("session"),
        Endpoint::Account => Some("account"),
        Endpoint::Accounts => Some("accounts"),
        Endpoint::Validate => Some("quote"),
        Endpoint::Confirm | Endpoint::Retry | Endpoint::Purchase => Some("purchase"),
        Endpoint::Statement => Some("statement"),
        Endpoint::Sales => Some("sales"),
        Endpoint::Message => Some("message"),
        Endpoint::Certificate => Some("certificate"),
        Endpoint::Events => Some("events"),
        Endpoint::Webhooks(call) => Some(webhooks::example_name(call)),
        Endpoint::Batches(call) => Some(batches::example_name(call)),
        Endpoint::Me | Endpoint::Products | Endpoint::Purchases | Endpoint::Receipt | Endpoint::LookUp => {
            None
        }
    }
}

/// All examples of answers by name: the successes above, and an error of each code.
pub(crate) fn all() -> Vec<(&'static str, Example)> {
    let successes = [
        ("session", "Tokens", session()),
        ("account", "A wallet", account()),
        ("accounts", "The wallets", json!([account()])),
        ("quote", "A quote for electricity", quoted()),
        ("purchase", "Electricity was bought", made()),
        ("statement", "The statement of a day with one sale", statement()),
        ("sales", "The sales of a day", sales()),
        ("message", "The message will be sent again", queued()),
        ("certificate", "The proof of a sale", certificate::example()),
        ("events", "What happened in one sale", events()),
    ];
    let successes = successes.into_iter().chain(webhooks::examples()).chain(batches::examples());
    let errors = ErrorCode::ALL.map(|code| (code.as_str(), code.as_str(), error(code)));
    successes
        .chain(errors)
        .map(|(name, summary, value)| {
            (name, ExampleBuilder::new().summary(summary).value(Some(value)).build())
        })
        .collect()
}

/// A reference to one of the examples.
pub(crate) fn reference(name: &'static str) -> (&'static str, RefOr<Example>) {
    (name, RefOr::Ref(Ref::new(format!("#/components/examples/{name}"))))
}

fn session() -> Value {
    json!({
        "access_token": "vg_test_at_9Xw4", "access_in": 900, "token_type": "bearer",
        "refresh_token": "vg_test_rt_5Qk2", "scope": "read write",
    })
}

/// An error of this code.
pub(crate) fn error(code: ErrorCode) -> Value {
    json!({"error": {
        "type": code.error_type().as_str(),
        "code": code.as_str(),
        "message": code.meaning(),
        "param": code.usual_param(),
        "retryable": code.retryable() == Retryable::Always,
        "doc_url": format!("https://api.example.com/docs/errors/{code}"),
        "request_id": "till-7-000187",
    }})
}

fn account() -> Value {
    json!({
        "id": 1, "name": "Main wallet", "currency": "BWP", "category": "CURRENT", "type": "WALLET",
        "status": "ACTIVE", "rank": 1, "balance": "BWP 1000000.00",
    })
}

fn statement() -> Value {
    json!({
        "account_id": 1, "account_name": "Main wallet", "currency": "BWP", "from": "2026-11-20", "to": "2026-11-20",
        "from_time": "2026-11-20T00:00:00+02:00", "to_time": "2026-11-21T00:00:00+02:00",
        "as_of": "2026-11-21T00:00:00+02:00", "complete": true,
        "opening_balance": "BWP 500.00", "opening_balance_minor": 50_000,
        "closing_balance": "BWP 400.00", "closing_balance_minor": 40_000,
        "data": [{
            "entry": 8121, "date": "2026-11-20 13:00:00", "posted_at": "2026-11-20T13:00:00.123456+02:00",
            "kind": "PURCHASE", "part": "NET", "amount": "BWP -100.00", "amount_minor": -10_000,
            "balance": "BWP 400.00", "balance_minor": 40_000, "reference": "TOP/2026/11/0000004217",
            "purchase_id": 4217, "external_reference": "SALE-2026-000187",
            "subscriber_identifier": "04257670465", "product_type": "ELECTRICITY", "provider_code": "BPC",
        }],
        "next_cursor": null,
    })
}

fn sales() -> Value {
    json!({
        "from": "2026-11-20", "to": "2026-11-20", "as_of": "2026-11-21T00:00:00+02:00", "complete": true,
        "data": [{
            "date": "2026-11-20", "product_type": "ELECTRICITY", "provider_code": "BPC", "currency": "BWP", "count": 1,
            "total": "BWP 102.00", "total_minor": 10_200, "net": "BWP 100.00", "net_minor": 10_000,
            "charge": "BWP 2.00", "charge_minor": 200, "commission": "BWP 1.00", "commission_minor": 100,
        }],
    })
}

fn queued() -> Value {
    json!({
        "purchase_id": 4217, "phone_number": "26771234568",
        "requested_at": "2026-11-20T13:05:00.000000+02:00", "remaining_today": 2,
    })
}

fn events() -> Value {
    let event = |id, kind, status, at| {
        json!({
            "id": id, "type": kind, "occurred_at": at,
            "data": {"purchase": {
                "id": 4217, "reference": "TOP/2026/11/0000004217", "external_reference": "SALE-2026-000187", "status": status,
                "account_id": 1, "product_type": "ELECTRICITY", "provider_code": "BPC", "subscriber_identifier": "07000010012",
                "entry": "BWP 100.00", "entry_minor": 10_000, "total": "BWP 101.50", "total_minor": 10_150,
            }},
        })
    };
    json!({
        "data": [
            event("evt_1795172400000120_8121", "purchase.accepted", "PENDING", "2026-11-20T11:00:00.000000Z"),
            event("evt_1795172400000124_8122", "purchase.succeeded", "SUCCESSFUL", "2026-11-20T11:00:01.250000Z"),
        ],
        "next_cursor": "bhVfXq3C3Yd7InRyYW5zYWN0aW9uIjoxLCJudW1iZXIiOjF9",
        "has_more": false,
    })
}

fn till() -> Value {
    json!({"id": 3, "full_name": "Till of Sandbox Stores", "phone_number": "26771000001", "username": "till", "status": "ACTIVE"})
}

fn quoted() -> Value {
    json!({
        "id": 4216, "channel": "POS", "date": "2026-11-20 13:00:00", "status": "ON_GOING", "type": "TOPUP",
        "reference": "TOP/2026/11/0000004216", "operator": till(), "requester": till(), "payer": {},
        "beneficiary": {"id": 0, "full_name": "", "phone_number": "26771234567", "status": ""},
        "total": "BWP 101.50", "net": "BWP 100.00", "charge": "BWP 1.50", "commission": "BWP 1.00",
        "entry": "BWP 100.00", "subscriber_identifier": "07000010012", "subscriber_details": "KAGISO MODISE",
        "product": {"type": "ELECTRICITY", "provider": "BPC", "units": "66.6 kWh"},
        "metadata": {
            "vat": "BWP 12.28", "levy": "BWP 0.00", "regulatory_fee": "BWP 0.00", "charge": "BWP 0.00",
            "cost": "BWP 87.72", "provider_subscriber_details": "KAGISO MODISE",
        },
    })
}

fn made() -> Value {
    let mut made = quoted();
    let kgale = json!({"id": 1, "full_name": "Sandbox Stores", "phone_number": "", "username": "SANDBOX", "status": "ACTIVE"});
    for (pointer, value) in [
        ("/id", json!(4217)),
        ("/status", json!("SUCCESSFUL")),
        ("/reference", json!("TOP/2026/11/0000004217")),
        ("/payer", kgale),
        (
            "/product",
            json!({
                "type": "ELECTRICITY", "provider": "BPC", "token": "07179199761502576865", "units": "66.6 kWh",
            }),
        ),
    ] {
        if let Some(value_at) = made.pointer_mut(pointer) {
            *value_at = value;
        }
    }
    if let Some(fields) = made.as_object_mut() {
        fields.insert("created_at".to_owned(), json!("2026-11-20T13:00:00.000000+02:00"));
        fields.insert("settled_at".to_owned(), json!("2026-11-20T13:00:01.250000+02:00"));
    }
    if let Some(metadata) = made.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        metadata.insert("provider_transaction_identifier".to_owned(), json!("20261120130001000187"));
    }
    made
}
