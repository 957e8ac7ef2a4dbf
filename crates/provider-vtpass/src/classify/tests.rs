//! Tests of what counts as proof. The successes and the failure are the vendor's published examples, with our order in them.

use chrono::{TimeZone, Utc};
use money::Money;
use proptest::prelude::*;
use provider_http::header::HeaderMap;
use serde_json::{Value, json};
use vend::{CallId, Product, ProviderReference, Sale, SubscriberIdentifier};

use super::*;
use crate::settings::VtpassSettings;

const REQUEST_ID: &str = "20261120103000000042ikejaelectric";
const METER: &str = "1111111111111";
const TOKEN: &str = "26362054405982757802";

fn rules_with(listed: &[&str]) -> Rules {
    let refusals_without_request_id = listed.iter().map(|code| (*code).to_owned()).collect();
    let settings = VtpassSettings::new("http://h", "key", "SK", "ikeja-electric", "08011111111");
    Rules::new(&VtpassSettings { refusals_without_request_id, ..settings }).unwrap()
}

fn order() -> VendOrder {
    let at = Utc.with_ymd_and_hms(2026, 11, 20, 9, 30, 0).unwrap();
    let sale = Sale {
        product: Product::Electricity,
        subscriber: SubscriberIdentifier::parse(METER).unwrap(),
        amount: Money::parse_wire("NGN 2000.00").unwrap(),
    };
    VendOrder { reference: ProviderReference::new(CallId::new(42, at).unwrap()), sale }
}

/// The example of the page about Ikeja Electric, shortened.
fn success() -> Value {
    json!({
        "code": "000",
        "content": {"transactions": {
            "status": "delivered", "product_name": "Ikeja Electric Payment - IKEDC", "unique_element": METER,
            "unit_price": "2000", "quantity": 1, "service_verification": null, "channel": "api", "commission": 30,
            "total_amount": 1970, "type": "Electricity Bill", "phone": "123450987623", "convinience_fee": 0,
            "amount": "2000", "platform": "api", "method": "api", "transactionId": "17416102247366731230557150",
        }},
        "response_description": "TRANSACTION SUCCESSFUL",
        "requestId": REQUEST_ID,
        "amount": 2000,
        "transaction_date": "2025-03-10T12:37:04.000000Z",
        "purchased_code": format!("Token : {TOKEN}"),
        "customerName": "N/A",
        "token": format!("Token : {TOKEN}"),
        "tokenAmount": 1860.47,
        "resetToken": "N/A", "configureToken": "N/A", "kct1": "N/A", "kct2": "N/A",
        "units": "79.9 kWh",
    })
}

fn failure() -> Value {
    json!({
        "code": "016",
        "content": {"transactions": {"status": "failed", "unique_element": METER, "amount": 2000,
                                     "transactionId": "17416102247366731230557151"}},
        "response_description": "TRANSACTION FAILED",
        "requestId": REQUEST_ID,
        "amount": 2000,
        "purchased_code": "",
    })
}

/// An answer that names no order, as the vendor's sandbox gives it.
fn bare(code: &str) -> Value {
    json!({"code": code, "response_description": "A SENTENCE", "content": {"errors": []}})
}

/// The answer with the value at this place changed.
fn with(answer: Value, place: &str, value: Value) -> Value {
    let mut changed = answer;
    *changed.pointer_mut(place).unwrap_or_else(|| panic!("nothing at {place}")) = value;
    changed
}

fn without(answer: Value, place: &str) -> Value {
    let mut changed = answer;
    let (parent, name) = place.rsplit_once('/').unwrap();
    changed.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name).unwrap();
    changed
}

fn replied(status: u16, body: &[u8]) -> HttpReply {
    HttpReply { status, headers: HeaderMap::new(), body: body.to_vec() }
}

fn judged_by(rules: &Rules, status: u16, body: &[u8]) -> VendOutcome {
    let reply = replied(status, body);
    match vend(&reply, Asked { order: &order(), request_id: REQUEST_ID }, rules) {
        VendOutcome::Unknown(unclear) => {
            assert_eq!(unclear.raw_reply.unwrap().0, reply.body, "the reply is kept unchanged");
            VendOutcome::Unknown(unclear.doubt.into())
        }
        proven @ (VendOutcome::Vended(_) | VendOutcome::Refused(_)) => proven,
    }
}

fn judged(answer: &Value) -> VendOutcome {
    judged_by(&rules_with(&[]), 200, answer.to_string().as_bytes())
}

fn found(status: u16, answer: &Value) -> Enquiry {
    let reply = replied(status, answer.to_string().as_bytes());
    match enquiry(&reply, Asked { order: &order(), request_id: REQUEST_ID }, &rules_with(&[])) {
        Enquiry::Unanswered(unclear) => Enquiry::Unanswered(unclear.doubt.into()),
        other @ (Enquiry::Vended(_) | Enquiry::Refused(_) | Enquiry::NoRecord | Enquiry::StillOpen) => other,
    }
}

fn doubt(doubt: Doubt) -> VendOutcome {
    VendOutcome::Unknown(doubt.into())
}

#[test]
fn a_success_that_repeats_all_that_was_asked_is_a_vend_under_any_status() {
    for status in [200, 202, 400, 500] {
        let outcome = judged_by(&rules_with(&[]), status, success().to_string().as_bytes());
        let VendOutcome::Vended(vend) = outcome else { panic!("{status}: {outcome:?}") };
        assert_eq!(vend.tokens.unwrap().wire_form(), TOKEN);
        assert_eq!(vend.units.unwrap().to_string(), "79.9 kWh");
        assert_eq!(vend.provider_transaction, "17416102247366731230557150");
        assert_eq!((vend.breakdown, vend.subscriber_details), (None, None));
        assert_eq!(vend.raw_reply.0, success().to_string().into_bytes());
    }
    assert!(matches!(found(200, &success()), Enquiry::Vended(_)));
}

#[test]
fn a_success_that_differs_from_the_order_or_leaves_it_out_is_doubt() {
    let transaction = "/content/transactions";
    for place in ["/requestId", &format!("{transaction}/unique_element"), &format!("{transaction}/amount")] {
        for answer in [with(success(), place, json!("1")), without(success(), place)] {
            assert_eq!(judged(&answer), doubt(Doubt::Mismatched), "{place}");
            assert_eq!(found(200, &answer), Enquiry::Unanswered(Doubt::Mismatched.into()), "{place}");
        }
    }
    assert_eq!(judged(&with(success(), "/amount", json!(2_000.01))), doubt(Doubt::Mismatched));
    for place in ["/content", transaction, "/content/transactions/transactionId"] {
        assert_eq!(judged(&without(success(), place)), doubt(Doubt::Mismatched), "{place}");
    }
    let tokenless = without(without(success(), "/token"), "/purchased_code");
    assert_eq!(judged(&tokenless), doubt(Doubt::Mismatched));
    let dummy = json!("Token : 00000000000000000000");
    let dummy = with(with(success(), "/token", dummy.clone()), "/purchased_code", dummy);
    assert_eq!(judged(&dummy), doubt(Doubt::Mismatched));
}

#[test]
fn only_the_listed_states_of_a_transaction_mean_anything() {
    for status in ["initiated", "pending"] {
        let answer = with(success(), "/content/transactions/status", json!(status));
        assert_eq!(judged(&answer), doubt(Doubt::StillOpen), "{status}");
        assert_eq!(found(200, &answer), Enquiry::StillOpen, "{status}");
    }
    for status in ["failed", "reversed", "resolved", "Delivered", "success"] {
        let answer = with(success(), "/content/transactions/status", json!(status));
        assert_eq!(judged(&answer), doubt(Doubt::UnlistedFault), "{status}");
        assert_eq!(found(200, &answer), Enquiry::Unanswered(Doubt::UnlistedFault.into()), "{status}");
    }
}

#[test]
fn a_failure_under_our_request_id_is_a_refusal_in_an_answer_and_in_an_enquiry() {
    let refusal = Refusal { reason: RefusalReason::Other, wording: Some("TRANSACTION FAILED".to_owned()) };
    assert_eq!(judged(&failure()), VendOutcome::Refused(refusal.clone()));
    assert_eq!(found(200, &failure()), Enquiry::Refused(refusal));
}

#[test]
fn a_failure_that_contradicts_itself_or_names_another_order_is_doubt() {
    let delivered = with(failure(), "/content/transactions/status", json!("delivered"));
    assert_eq!(judged(&delivered), doubt(Doubt::UnlistedFault));
    assert_eq!(judged(&with(failure(), "/requestId", json!("2"))), doubt(Doubt::Mismatched));
    assert_eq!(judged(&without(failure(), "/requestId")), doubt(Doubt::UnlistedFault));
    let under_500 = judged_by(&rules_with(&[]), 500, failure().to_string().as_bytes());
    assert_eq!(under_500, doubt(Doubt::UnlistedFault));
}

#[test]
fn a_refusal_without_our_request_id_is_doubt_unless_the_operator_listed_its_code() {
    let refusal = Refusal { reason: RefusalReason::FloatExhausted, wording: Some("A SENTENCE".to_owned()) };
    let judged_with =
        |listed: &[&str], status| judged_by(&rules_with(listed), status, bare("018").to_string().as_bytes());
    assert_eq!(judged_with(&[], 200), doubt(Doubt::UnlistedFault));
    assert_eq!(judged_with(&["013"], 200), doubt(Doubt::UnlistedFault));
    assert_eq!(judged_with(&["018"], 200), VendOutcome::Refused(refusal));
    assert_eq!(judged_with(&["018"], 500), doubt(Doubt::UnlistedFault));
}

#[test]
fn a_refusal_without_our_request_id_never_ends_an_enquiry() {
    let reply = replied(200, bare("018").to_string().as_bytes());
    let asked = Asked { order: &order(), request_id: REQUEST_ID };
    let found = enquiry(&reply, asked, &rules_with(&["018"]));
    assert_eq!(found.doubt(), Some(Doubt::UnlistedFault));
}

#[test]
fn codes_that_say_nothing_about_the_order_are_doubt() {
    for (code, expected) in [
        ("014", Doubt::RepeatedReference),
        ("089", Doubt::StillOpen),
        ("099", Doubt::StillOpen),
        ("001", Doubt::UnlistedFault),
        ("015", Doubt::UnlistedFault),
        ("040", Doubt::UnlistedFault),
        ("044", Doubt::UnlistedFault),
        ("083", Doubt::UnlistedFault),
        ("777", Doubt::UnlistedFault),
    ] {
        assert_eq!(judged(&bare(code)), doubt(expected), "{code}");
        let named = with(failure(), "/code", json!(code));
        assert_eq!(judged(&without(named, "/content")), doubt(expected), "{code}");
    }
}

#[test]
fn an_unknown_request_id_is_no_record_only_in_the_answer_of_the_vendor_to_an_enquiry() {
    assert_eq!(found(200, &bare("015")), Enquiry::NoRecord);
    for status in [302, 404, 500] {
        assert_eq!(found(status, &bare("015")), Enquiry::Unanswered(Doubt::UnlistedFault.into()), "{status}");
    }
    let of_another = with(failure(), "/requestId", json!("another"));
    let of_another = with(of_another, "/code", json!("015"));
    assert_eq!(found(200, &of_another), Enquiry::Unanswered(Doubt::Mismatched.into()));
}

#[test]
fn what_is_no_reply_of_the_protocol_is_doubt() {
    for body in ["", "<html></html>", "{}", "[]", "null", r#"{"code":0}"#, "\u{0}", r#"{"code":"000""#] {
        let expected = if body == r#"{"code":0}"# { Doubt::UnlistedFault } else { Doubt::Unreadable };
        assert_eq!(judged_by(&rules_with(&[]), 200, body.as_bytes()), doubt(expected), "{body}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_or_move_money(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let outcome = judged_by(&rules_with(&["018"]), 200, &body);
        prop_assert!(outcome.doubt().is_some());
    }

    #[test]
    fn a_truncated_success_is_never_proof(length in 0_usize..1_000) {
        let whole = success().to_string().into_bytes();
        let part = whole.get(..length.min(whole.len() - 1)).unwrap();
        prop_assert!(judged_by(&rules_with(&[]), 200, part).doubt().is_some());
    }
}
