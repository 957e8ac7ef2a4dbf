//! Tests of what counts as proof.

use chrono::{TimeZone, Utc};
use money::{Currency, Money};
use phonenumber::country::BW;
use proptest::prelude::*;
use provider_http::header::HeaderMap;
use serde_json::{Value, json};
use vend::{CallId, Product, ProviderReference, Sale, SubscriberIdentifier};

use super::*;
use crate::fault::{FaultCode, FaultCodes};
use crate::operator::Selling;

const OPERATOR: u64 = 118;

fn rules() -> Rules {
    Rules {
        country: BW,
        currency: pula(),
        account_currency: pula(),
        fault_codes: FaultCodes::new(&[]).unwrap(),
        report_time_zone: None,
    }
}

fn pula() -> Currency {
    Currency::parse("BWP").unwrap()
}

fn order() -> VendOrder {
    let at = Utc.with_ymd_and_hms(2026, 11, 20, 9, 30, 0).unwrap();
    let sale = Sale {
        product: Product::Airtime,
        subscriber: SubscriberIdentifier::parse("26771234567").unwrap(),
        amount: Money::from_minor(1_050, pula()),
    };
    VendOrder { reference: ProviderReference::new(CallId::new(42, at).unwrap()), sale }
}

fn top_up() -> Value {
    json!({
        "transactionId": 4_602_843,
        "status": "SUCCESSFUL",
        "operatorTransactionId": "7297929551:OrderConfirmed",
        "customIdentifier": "20261120093000-000042",
        "recipientPhone": "26771234567",
        "senderPhone": null,
        "countryCode": "BW",
        "operatorId": OPERATOR,
        "operatorName": "Village Mobile",
        "requestedAmount": 10.5,
        "requestedAmountCurrencyCode": "BWP",
        "deliveredAmount": 9.8765,
        "deliveredAmountCurrencyCode": "BWP",
        "transactionDate": "2026-11-20 09:30:02",
        "pinDetail": null,
        "balanceInfo": {"oldBalance": 100.0, "newBalance": 89.5, "currencyCode": "BWP"},
    })
}

/// The success with one field changed to this value.
fn with(field: &str, value: Value) -> Value {
    let mut changed = top_up();
    assert!(changed.get(field).is_some(), "a top-up has no {field}");
    changed[field] = value;
    changed
}

/// A value that can be written as a body.
trait Body {
    fn bytes(self) -> Vec<u8>;
}

impl<T: ToString> Body for T {
    fn bytes(self) -> Vec<u8> {
        self.to_string().into_bytes()
    }
}

fn reply(status: u16, body: impl Body) -> HttpReply {
    HttpReply { status, headers: HeaderMap::new(), body: body.bytes() }
}

fn judged_by(status: u16, body: impl Body, rules: &Rules) -> VendOutcome {
    let (order, phone) = (order(), Phone::ordered("26771234567", BW).unwrap());
    let reply = reply(status, body);
    match vend(&reply, Asked { order: &order, phone: &phone, operator: Some(OPERATOR) }, rules) {
        VendOutcome::Unknown(unclear) => doubt_of(kept(unclear, &reply)),
        proven @ (VendOutcome::Vended(_) | VendOutcome::Refused(_)) => proven,
    }
}

/// The doubt. Asserts that the vendor's reply is kept with it unchanged.
fn kept(unclear: Unclear, reply: &HttpReply) -> Doubt {
    assert_eq!(unclear.raw_reply.unwrap().0, reply.body);
    unclear.doubt
}

fn judged(status: u16, body: impl Body) -> VendOutcome {
    judged_by(status, body, &rules())
}

fn asked_by(status: u16, body: impl Body) -> Enquiry {
    let (order, phone) = (order(), Phone::ordered("26771234567", BW).unwrap());
    let reply = reply(status, body);
    match enquiry(&reply, Asked { order: &order, phone: &phone, operator: None }, &rules()) {
        Enquiry::Unanswered(unclear) => Enquiry::Unanswered(kept(unclear, &reply).into()),
        answered @ (Enquiry::Vended(_) | Enquiry::Refused(_) | Enquiry::NoRecord | Enquiry::StillOpen) => {
            answered
        }
    }
}

fn page(rows: &[Value]) -> Value {
    json!({"content": rows, "totalElements": rows.len(), "empty": rows.is_empty()})
}

fn error(code: &str) -> Value {
    json!({"timeStamp": "2026-11-20 09:30:02", "message": "No \n way", "path": "/topups", "errorCode": code,
           "infoLink": null, "details": []})
}

fn doubt_of(doubt: Doubt) -> VendOutcome {
    VendOutcome::Unknown(doubt.into())
}

fn refusal(reason: RefusalReason, wording: Option<&str>) -> Refusal {
    Refusal { reason, wording: wording.map(str::to_owned) }
}

#[test]
fn a_success_that_repeats_all_that_was_asked_is_a_vend_under_any_status() {
    for status in [200, 202, 400, 500] {
        let VendOutcome::Vended(vend) = judged(status, top_up()) else { panic!("{status}") };
        assert_eq!(vend.provider_transaction, "4602843");
        assert_eq!(
            (vend.tokens, vend.units, vend.breakdown, vend.subscriber_details),
            (None, None, None, None)
        );
        assert_eq!(vend.raw_reply.0, top_up().to_string().into_bytes());
    }
}

#[test]
fn a_number_may_be_repeated_as_it_is_dialled_and_an_amount_with_more_zeros() {
    for (field, value) in [
        ("recipientPhone", json!("+26771234567")),
        ("recipientPhone", json!("71234567")),
        ("recipientPhone", json!(26_771_234_567_u64)),
    ] {
        assert!(matches!(judged(200, with(field, value.clone())), VendOutcome::Vended(_)), "{field} {value}");
    }
    let zeros = top_up().to_string().replace("\"requestedAmount\":10.5", "\"requestedAmount\":10.5000");
    assert!(matches!(judged(200, zeros), VendOutcome::Vended(_)));
}

#[test]
fn a_success_about_anything_else_is_doubt() {
    for (field, value) in [
        ("transactionId", Value::Null),
        ("customIdentifier", Value::Null),
        ("customIdentifier", json!("20261120093000-000043")),
        ("recipientPhone", Value::Null),
        ("recipientPhone", json!("26771234568")),
        ("recipientPhone", json!("")),
        ("operatorId", Value::Null),
        ("operatorId", json!(119)),
        ("requestedAmount", Value::Null),
        ("requestedAmount", json!(10.51)),
        ("requestedAmount", json!(10.505)),
        ("requestedAmount", json!("10.5")),
        ("requestedAmountCurrencyCode", Value::Null),
        ("requestedAmountCurrencyCode", json!("USD")),
        ("requestedAmountCurrencyCode", json!("pula")),
    ] {
        let outcome = judged(200, with(field, value.clone()));
        assert_eq!(outcome, doubt_of(Doubt::Mismatched), "{field} {value}");
    }
    let mut contradictory = top_up();
    contradictory["errorCode"] = json!("INVALID_RECIPIENT_PHONE");
    assert_eq!(judged(200, contradictory), doubt_of(Doubt::Mismatched));
}

#[test]
fn an_account_in_other_money_is_charged_in_that_and_delivers_what_was_asked() {
    let dollars = Rules { account_currency: Currency::parse("USD").unwrap(), ..rules() };
    let mut charged = with("requestedAmount", json!(0.7512));
    charged["requestedAmountCurrencyCode"] = json!("USD");
    assert_eq!(
        judged_by(200, &charged, &dollars),
        doubt_of(Doubt::Mismatched),
        "0.7512 is no amount of money"
    );
    charged["requestedAmount"] = json!(0.75);
    assert_eq!(judged_by(200, &charged, &dollars), doubt_of(Doubt::Mismatched), "delivered 9.8765");
    charged["deliveredAmount"] = json!(10.5);
    assert!(matches!(judged_by(200, &charged, &dollars), VendOutcome::Vended(_)));
    assert_eq!(judged_by(200, &charged, &rules()), doubt_of(Doubt::Mismatched), "an account in pula");
    charged["deliveredAmountCurrencyCode"] = json!("ZAR");
    assert_eq!(judged_by(200, &charged, &dollars), doubt_of(Doubt::Mismatched));
}

#[test]
fn what_is_under_way_is_doubt_and_what_is_unheard_of_too() {
    assert_eq!(judged(200, with("status", json!("PROCESSING"))), doubt_of(Doubt::StillOpen));
    for status in ["PENDING", "successful", ""] {
        assert_eq!(judged(200, with("status", json!(status))), doubt_of(Doubt::UnlistedFault), "{status}");
    }
}

#[test]
fn what_failed_or_was_refunded_is_refused_if_it_is_ours() {
    for status in ["FAILED", "REFUNDED"] {
        let mut failed = with("status", json!(status));
        assert_eq!(judged(200, &failed), VendOutcome::Refused(refusal(RefusalReason::Other, None)));
        assert_eq!(judged(500, &failed), doubt_of(Doubt::UnlistedFault));
        failed["deliveredAmount"] = Value::Null;
        failed["requestedAmount"] = Value::Null;
        failed["transactionId"] = Value::Null;
        assert_eq!(judged(200, &failed), VendOutcome::Refused(refusal(RefusalReason::Other, None)));
        failed["errorCode"] = json!("INVALID_RECIPIENT_PHONE");
        failed["errorMessage"] = json!("No\tsuch phone");
        let unknown = refusal(RefusalReason::UnknownSubscriber, Some("No such phone"));
        assert_eq!(judged(200, &failed), VendOutcome::Refused(unknown));
        failed["errorCode"] = json!("CUSTOM_IDENTIFIER_ALREADY_USED");
        assert_eq!(judged(200, &failed), doubt_of(Doubt::RepeatedReference));
        for (field, value) in [
            ("customIdentifier", Value::Null),
            ("customIdentifier", json!("20261120093000-000043")),
            ("recipientPhone", json!("26771234568")),
            ("operatorId", json!(119)),
            ("requestedAmount", json!(11)),
        ] {
            let mut failed = with(field, value.clone());
            failed["status"] = json!(status);
            assert_eq!(judged(200, failed), doubt_of(Doubt::Mismatched), "{status} {field} {value}");
        }
    }
}

/// Codes that the table knows and some that it does not know, with the expected result.
const CODES: [(&str, Result<RefusalReason, Doubt>); 20] = [
    ("INVALID_RECIPIENT_PHONE", Ok(RefusalReason::UnknownSubscriber)),
    ("INVALID_PHONE_NUMBER", Ok(RefusalReason::UnknownSubscriber)),
    ("COULD_NOT_AUTO_DETECT_OPERATOR", Ok(RefusalReason::UnknownSubscriber)),
    ("PHONE_RECENTLY_RECHARGED", Ok(RefusalReason::DuplicateSale)),
    ("INVALID_AMOUNT", Ok(RefusalReason::Other)),
    ("INVALID_AMOUNT_FOR_OPERATOR", Ok(RefusalReason::Other)),
    ("OPERATOR_NOT_IN_SERVICE", Ok(RefusalReason::Busy)),
    ("INVALID_TOKEN", Ok(RefusalReason::Busy)),
    ("TOKEN_EXPIRED", Ok(RefusalReason::Busy)),
    ("INSUFFICIENT_BALANCE", Ok(RefusalReason::FloatExhausted)),
    ("MAX_DAILY_TRANSACTION_COUNT_REACHED", Ok(RefusalReason::FloatExhausted)),
    ("INACTIVE_ACCOUNT", Ok(RefusalReason::Misconfigured)),
    ("COUNTRY_NOT_SUPPORTED", Ok(RefusalReason::Misconfigured)),
    ("CUSTOM_IDENTIFIER_ALREADY_USED", Err(Doubt::RepeatedReference)),
    ("DUPLICATE_TRANSACTION", Err(Doubt::RepeatedReference)),
    ("TOPUP_TRANSACTION_FAILED", Err(Doubt::UnlistedFault)),
    ("TRANSACTION_CANNOT_BE_PROCESSED_AT_THE_MOMENT", Err(Doubt::UnlistedFault)),
    ("PROVIDER_INTERNAL_ERROR", Err(Doubt::UnlistedFault)),
    ("invalid_token", Err(Doubt::UnlistedFault)),
    ("", Err(Doubt::UnlistedFault)),
];

#[test]
fn only_listed_codes_under_a_status_of_the_400_class_are_refusals() {
    for (code, expected) in CODES {
        let expected_at_400 = match expected {
            Ok(reason) => VendOutcome::Refused(refusal(reason, Some("No way"))),
            Err(doubt) => doubt_of(doubt),
        };
        for status in [400, 401, 404, 422, 499] {
            assert_eq!(judged(status, error(code)), expected_at_400, "{code} {status}");
        }
        for status in [200, 302, 399, 500, 502, 599] {
            let doubt = expected.err().unwrap_or(Doubt::UnlistedFault);
            assert_eq!(judged(status, error(code)), doubt_of(doubt), "{code} {status}");
        }
    }
}

#[test]
fn a_hint_in_code_or_wording_makes_a_refusal_without_a_reason_transient() {
    let mut failed = with("status", json!("FAILED"));
    failed["errorCode"] = json!("TRANSACTION_CANNOT_BE_PROCESSED_AT_THE_MOMENT");
    let transient = |wording| VendOutcome::Refused(refusal(RefusalReason::OtherTransient, wording));
    assert_eq!(judged(200, &failed), transient(None));
    failed["errorCode"] = json!("TOPUP_TRANSACTION_FAILED");
    failed["errorMessage"] = json!("Network temporarily down");
    assert_eq!(judged(200, &failed), transient(Some("Network temporarily down")));
    failed["errorCode"] = json!("INVALID_RECIPIENT_PHONE");
    let unknown = refusal(RefusalReason::UnknownSubscriber, Some("Network temporarily down"));
    assert_eq!(judged(200, &failed), VendOutcome::Refused(unknown));

    let refused = json!({"errorCode": "INVALID_AMOUNT", "message": "Amounts are temporarily restricted"});
    assert_eq!(judged(400, refused), transient(Some("Amounts are temporarily restricted")));
}

#[test]
fn a_deployment_may_list_a_code_and_may_unlist_one() {
    let own = |code: &str, means: &str| FaultCode { code: code.to_owned(), means: means.to_owned() };
    let codes = [own("TOO_MANY_REQUESTS", "busy"), own("INVALID_AMOUNT", "unlisted")];
    let rules = Rules { fault_codes: FaultCodes::new(&codes).unwrap(), ..rules() };
    let busy = VendOutcome::Refused(refusal(RefusalReason::Busy, Some("No way")));
    assert_eq!(judged_by(429, error("TOO_MANY_REQUESTS"), &rules), busy);
    assert_eq!(judged_by(400, error("INVALID_AMOUNT"), &rules), doubt_of(Doubt::UnlistedFault));
}

#[test]
fn what_cannot_be_read_is_doubt_under_any_status() {
    let twice = top_up().to_string().replacen('{', "{\"status\":\"FAILED\",", 1);
    let trailing = format!("{} {{}}", top_up());
    for status in [200, 400, 401, 404, 500] {
        for body in ["", "no", "{}", "[]", "null", "<html/>", "{\"status\":404}", &twice, &trailing] {
            assert_eq!(judged(status, body), doubt_of(Doubt::Unreadable), "{status} {body}");
        }
    }
    assert_eq!(judged(401, "{\"errorCode\":null,\"message\":\"x\"}"), doubt_of(Doubt::UnlistedFault));
}

#[test]
fn a_success_cut_anywhere_proves_nothing() {
    let whole = top_up().to_string();
    for end in 0..whole.len() {
        assert_eq!(judged(200, &whole[..end]), doubt_of(Doubt::Unreadable), "{end}");
    }
}

#[test]
fn a_report_with_our_one_top_up_tells_what_became_of_it() {
    let found = asked_by(200, page(&[top_up()]));
    assert!(matches!(found, Enquiry::Vended(vend) if vend.provider_transaction == "4602843"));
    let processing = page(&[with("status", json!("PROCESSING"))]);
    assert_eq!(asked_by(200, processing), Enquiry::StillOpen);
    let failed = page(&[with("status", json!("FAILED"))]);
    assert_eq!(asked_by(200, failed), Enquiry::Refused(refusal(RefusalReason::Other, None)));
    let other_network = page(&[with("operatorId", json!(119))]);
    assert!(matches!(asked_by(200, other_network), Enquiry::Vended(_)), "an enquiry knows no network");
}

#[test]
fn an_empty_report_is_no_record() {
    assert_eq!(asked_by(200, page(&[])), Enquiry::NoRecord);
    assert_eq!(asked_by(200, json!({"content": []})), Enquiry::NoRecord);
}

#[test]
fn a_report_about_others_or_about_many_is_no_answer() {
    let others = with("customIdentifier", json!("20261120093000-000043"));
    let mismatched = Enquiry::Unanswered(Doubt::Mismatched.into());
    for rows in [
        vec![top_up(), top_up()],
        vec![top_up(), others.clone()],
        vec![others.clone()],
        vec![with("recipientPhone", json!("26771234568"))],
        vec![with("requestedAmount", json!(11))],
    ] {
        assert_eq!(asked_by(200, page(&rows)), mismatched, "{rows:?}");
    }
    for more_elsewhere in
        [json!({"content": [], "totalElements": 1}), json!({"content": [top_up()], "totalElements": 2})]
    {
        assert_eq!(asked_by(200, more_elsewhere), mismatched);
    }
}

#[test]
fn a_report_that_did_not_come_is_no_answer_and_never_no_record() {
    let unlisted = Enquiry::Unanswered(Doubt::UnlistedFault.into());
    let unreadable = Enquiry::Unanswered(Doubt::Unreadable.into());
    for status in [400, 401, 404, 500] {
        assert_eq!(asked_by(status, error("INVALID_TOKEN")), unlisted, "{status}");
        assert_eq!(asked_by(status, page(&[])), unreadable, "{status}");
        assert_eq!(asked_by(status, page(&[top_up()])), unreadable, "{status}");
    }
    for body in [json!({}), json!({"content": null}), json!([]), json!({"content": [{}]}), top_up()] {
        assert_eq!(asked_by(200, body), unreadable);
    }
}

fn network() -> Value {
    json!({
        "operatorId": OPERATOR, "name": "Village Mobile", "bundle": false, "denominationType": "RANGE",
        "supportsLocalAmounts": true, "destinationCurrencyCode": "BWP", "minAmount": 0.36, "maxAmount": 37.11,
        "localMinAmount": 5.0001, "localMaxAmount": 500.009, "localFixedAmounts": [],
    })
}

fn found(status: u16, body: impl Body) -> Result<Operator, Unanswered> {
    operator(&reply(status, body), &rules())
}

fn selling(changes: &Value) -> Result<Selling, Unanswered> {
    let mut network = network();
    for (field, value) in changes.as_object().unwrap() {
        network[field] = value.clone();
    }
    found(200, network).map(|operator| operator.selling)
}

#[test]
fn a_network_sells_within_its_local_limits() {
    let minor = |minor| Some(Money::from_minor(minor, pula()));
    let expected = Operator { id: OPERATOR, selling: Selling::range(minor(501), minor(50_000)) };
    assert_eq!(found(200, network()), Ok(expected));
    let unlimited = selling(&json!({"localMinAmount": null, "localMaxAmount": null}));
    assert_eq!(unlimited, Ok(Selling::range(None, None)));
    let fixed = selling(&json!({"denominationType": "FIXED", "localFixedAmounts": [20, 5.00]}));
    let amounts = [500, 2_000].map(|minor| Money::from_minor(minor, pula()));
    assert_eq!(fixed, Ok(Selling::fixed(amounts.to_vec())));
    for nothing in [
        json!({"supportsLocalAmounts": false}),
        json!({"supportsLocalAmounts": false, "denominationType": "FIXED", "localFixedAmounts": [5]}),
        json!({"denominationType": "FIXED"}),
        json!({"denominationType": "FIXED", "localFixedAmounts": null}),
    ] {
        assert_eq!(selling(&nothing), Ok(Selling::Nothing));
    }
}

#[test]
fn a_network_that_cannot_be_read_is_no_answer() {
    let unreadable = Err(Unanswered::NoAnswer(Doubt::Unreadable));
    for changes in [
        json!({"operatorId": null}),
        json!({"operatorId": "118"}),
        json!({"denominationType": "OTHER"}),
        json!({"supportsLocalAmounts": null}),
        json!({"localMinAmount": "5"}),
        json!({"denominationType": "FIXED", "localFixedAmounts": [5.001]}),
    ] {
        assert_eq!(selling(&changes), unreadable);
    }
    assert_eq!(
        selling(&json!({"destinationCurrencyCode": "ZAR"})),
        Err(refused(RefusalReason::Misconfigured))
    );
}

#[test]
fn a_number_without_a_network_is_unknown_and_a_failure_says_nothing_about_it() {
    assert_eq!(found(404, "gone"), Err(refused(RefusalReason::UnknownSubscriber)));
    let worded = refusal(RefusalReason::UnknownSubscriber, Some("No way"));
    assert_eq!(found(404, error("COULD_NOT_AUTO_DETECT_OPERATOR")), Err(Unanswered::Refused(worded.clone())));
    assert_eq!(found(400, error("INVALID_PHONE_NUMBER")), Err(Unanswered::Refused(worded)));
    let unlisted = Err(Unanswered::NoAnswer(Doubt::UnlistedFault));
    assert_eq!(found(500, error("INVALID_PHONE_NUMBER")), unlisted);
    assert_eq!(found(400, error("OTHER")), unlisted);
    assert_eq!(found(502, "<html/>"), Err(Unanswered::NoAnswer(Doubt::Unreadable)));
    for status in [401, 403] {
        assert_eq!(found(status, error("INVALID_TOKEN")), Err(refused(RefusalReason::Misconfigured)));
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_prove_nothing(body in prop::collection::vec(any::<u8>(), 0..400), status in 100_u16..600) {
        let body = String::from_utf8_lossy(&body).into_owned();
        prop_assert!(matches!(judged(status, &body), VendOutcome::Unknown(_)));
        prop_assert!(matches!(asked_by(status, &body), Enquiry::Unanswered(_)));
    }

    #[test]
    fn one_wrong_byte_never_makes_a_refusal_of_a_vend(at in 0..top_up().to_string().len(), byte: u8, status in 200_u16..600) {
        let mut body = top_up().to_string().into_bytes();
        body[at] = byte;
        let (order, phone) = (order(), Phone::ordered("26771234567", BW).unwrap());
        let asked = Asked { order: &order, phone: &phone, operator: Some(OPERATOR) };
        let outcome = vend(&HttpReply { status, headers: HeaderMap::new(), body }, asked, &rules());
        prop_assert!(!matches!(outcome, VendOutcome::Refused(_)), "{:?}", outcome);
    }

    #[test]
    fn one_wrong_byte_never_makes_a_vend_of_what_is_another(at in 0..top_up().to_string().len(), byte: u8) {
        let mut body = with("customIdentifier", json!("20261120093000-000043")).to_string().into_bytes();
        let right = body.get(at) == Some(&b'3') && byte == b'2';
        prop_assume!(!right && at < body.len());
        body[at] = byte;
        prop_assert!(matches!(judged(200, String::from_utf8_lossy(&body)), VendOutcome::Unknown(_)));
    }

    #[test]
    fn no_code_outside_the_table_is_ever_a_refusal(code in "[A-Z_]{1,40}", status in 100_u16..600) {
        let known = CODES.iter().any(|(known, _)| *known == code);
        prop_assume!(!known);
        prop_assert!(matches!(judged(status, error(&code)), VendOutcome::Unknown(_)));
    }
}
