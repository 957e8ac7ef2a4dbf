//! Tests of what counts as proof.

mod faults;
mod questions;
mod trials;

use chrono::{TimeZone, Utc};
use money::{Currency, Money};
use proptest::prelude::*;
use rust_decimal::Decimal;
use vend::{Breakdown, ProviderReference, Units};

use super::*;
use crate::fault_texts::FaultTexts;
use crate::settings::LineDescriptions;

const VEND_REPLY: &str = include_str!("../../tests/fixtures/vend_reply.xml");
const DRIFTING_VEND_REPLY: &str = include_str!("../../tests/fixtures/drifting_vend_reply.xml");
const KEY_CHANGE: &str = include_str!("../../tests/fixtures/key_change.xml");
const TOKEN: &str = "61722405118890034471";

fn rules() -> Rules {
    Rules {
        currency: pula(),
        tax_included: true,
        lines: LineDescriptions::default(),
        fault_texts: FaultTexts::new(&[]).unwrap(),
        electricity_unit: "kWh".to_owned(),
        water_unit: "kl".to_owned(),
    }
}

fn pula() -> Currency {
    Currency::parse("BWP").unwrap()
}

fn call(minute: u32, number: u32) -> CallId {
    CallId::new(number, Utc.with_ymd_and_hms(2026, 11, 20, 9, minute, 0).unwrap()).unwrap()
}

/// The call id of questions and enquiries.
fn question() -> CallId {
    call(29, 41)
}

fn order() -> VendOrder {
    let sale = Sale {
        product: Product::Electricity,
        subscriber: SubscriberIdentifier::parse("14301118432").unwrap(),
        amount: Money::from_minor(10_000, pula()),
    };
    VendOrder { reference: ProviderReference::new(call(30, 42)), sale }
}

fn water_order() -> VendOrder {
    let mut order = order();
    order.sale.product = Product::Water;
    order
}

fn judged_for(order: &VendOrder, reply: &str) -> Result<VendOutcome, Malformed> {
    judged_by(order, reply, &rules())
}

fn judged_by(order: &VendOrder, reply: &str, rules: &Rules) -> Result<VendOutcome, Malformed> {
    Ok(match vend(reply.as_bytes(), order, rules)?.outcome {
        VendOutcome::Unknown(unclear) => VendOutcome::Unknown(kept(unclear, reply).into()),
        proven @ (VendOutcome::Vended(_) | VendOutcome::Refused(_)) => proven,
    })
}

/// The doubt. Asserts that the gateway's reply is kept with it unchanged.
fn kept(unclear: Unclear, reply: &str) -> Doubt {
    assert_eq!(unclear.raw_reply.unwrap().0, reply.as_bytes());
    unclear.doubt
}

#[expect(clippy::unnecessary_wraps, reason = "expected values have the type of the judged values")]
fn unknown(doubt: Doubt) -> Result<VendOutcome, Malformed> {
    Ok(VendOutcome::Unknown(doubt.into()))
}

fn judged(reply: &str) -> Result<VendOutcome, Malformed> {
    judged_for(&order(), reply)
}

fn proven_by(reply: &str) -> Vend {
    match judged(reply) {
        Ok(VendOutcome::Vended(vend)) => *vend,
        other => panic!("{other:?}"),
    }
}

/// Replaces a text that the fixture must contain.
fn with(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "the fixture has no {from:?}");
    text.replace(from, to)
}

fn with_key_change(key_change: &str) -> String {
    with(VEND_REPLY, "<r:tariff>", &format!("{key_change}<r:tariff>"))
}

fn minor(amount: i64) -> Money {
    Money::from_minor(amount, pula())
}

#[test]
fn a_matching_reply_proves_the_vend() {
    let vend = proven_by(VEND_REPLY);
    assert_eq!(vend.tokens.unwrap().wire_form(), TOKEN);
    assert_eq!(vend.units, Some(Units { quantity: Decimal::new(527, 1), unit: "kWh".to_owned() }));
    assert_eq!(vend.provider_transaction, "V-77120");
    assert_eq!(vend.subscriber_details.as_deref(), Some("K MOLEFE & SONS"));
    assert_eq!(vend.raw_reply.0, VEND_REPLY.as_bytes());
    let parts = Breakdown {
        cost: minor(7_018),
        vat: minor(982),
        levy: minor(525),
        regulatory_fee: minor(225),
        charge: minor(1_250),
    };
    assert_eq!(vend.breakdown, Some(parts));
}

#[test]
fn a_reply_with_other_order_prefixes_or_envelope_is_read_the_same() {
    let straight = proven_by(VEND_REPLY);
    let drifting = proven_by(DRIFTING_VEND_REPLY);
    assert_eq!(drifting.tokens, straight.tokens);
    assert_eq!(drifting.breakdown, straight.breakdown);
    assert_eq!(drifting.units, straight.units);
    assert_eq!(drifting.provider_transaction, straight.provider_transaction);
    assert_eq!(drifting.subscriber_details, straight.subscriber_details);
}

#[test]
fn optional_things_may_be_missing() {
    let no_number = with(VEND_REPLY, " receiptNo=\"V-77120\"", "");
    assert_eq!(proven_by(&no_number).provider_transaction, "20261120093000-000042");
    let no_unit = with(VEND_REPLY, " siUnit=\"kWh\"", "");
    assert_eq!(proven_by(&no_unit).units.unwrap().unit, "kWh");
    let no_units = with(VEND_REPLY, "<b:units value=\"52.7\" siUnit=\"kWh\"/>", "");
    assert_eq!(proven_by(&no_units).units, None);
    let no_tender = with(VEND_REPLY, "<r:tenderAmt value=\"100.00\" symbol=\"BWP\"/>", "");
    assert!(proven_by(&no_tender).breakdown.is_some());
    let blank_name = with(VEND_REPLY, "K MOLEFE &amp; SONS", " ");
    assert_eq!(proven_by(&blank_name).subscriber_details, None);
}

#[test]
fn key_change_tokens_come_before_the_credit_token() {
    assert_eq!(
        wire_form_of(&with_key_change(KEY_CHANGE)),
        format!("New key: 10293847561029384756|New key: 56473829105647382910|Prepaid sale: {TOKEN}")
    );
}

fn wire_form_of(reply: &str) -> String {
    proven_by(reply).tokens.unwrap().wire_form()
}

#[test]
fn no_description_of_a_token_costs_the_token() {
    let both = with_key_change(KEY_CHANGE);
    for (key_change, credit, wire_form) in [
        ("<b:desc>K&#10;1:2|3</b:desc>", "<b:desc>S: a</b:desc>", "K 1;2/3: 1029|K 1;2/3: 5647|S; a: 6172"),
        (
            "<b:desc/>",
            "<b:desc> </b:desc>",
            "KeyChange Token1: 1029|KeyChange Token2: 5647|Credit Token: 6172",
        ),
        ("", "", "KeyChange Token1: 1029|KeyChange Token2: 5647|Credit Token: 6172"),
        ("<b:desc/><b:desc>A</b:desc>", "<b:desc>B</b:desc><b:desc>C</b:desc>", "A: 1029|A: 5647|B: 6172"),
    ] {
        let reply = with(&both, "<b:desc>New key</b:desc>", key_change);
        let told = wire_form_of(&with(&reply, "<b:desc>Prepaid sale</b:desc>", credit));
        let short: Vec<String> = told.split('|').map(|pair| pair[..pair.len() - 16].to_owned()).collect();
        assert_eq!(short.join("|"), wire_form, "{key_change}{credit}");
    }
}

#[test]
fn tax_beside_the_amount_is_added_where_the_deployment_says_so() {
    let beside = with(VEND_REPLY, "value=\"80.00\"", "value=\"70.18\"");
    assert_eq!(proven_by(&beside).breakdown, None);
    let rules = Rules { tax_included: false, ..rules() };
    let Ok(Judged { outcome: VendOutcome::Vended(vend), .. }) = vend(beside.as_bytes(), &order(), &rules)
    else {
        panic!("not vended");
    };
    assert_eq!(vend.breakdown, proven_by(VEND_REPLY).breakdown);
}

#[test]
fn the_credit_is_read_down_to_a_minor_unit_and_none_costs_the_vend() {
    let told = |reply: &str| {
        let judged = vend(reply.as_bytes(), &order(), &rules()).unwrap();
        assert!(matches!(judged.outcome, VendOutcome::Vended(_)), "{reply}");
        judged.credit.map(Money::minor)
    };
    let stated = "value=\"48211.10\" symbol=\"BWP\"";
    assert_eq!(told(VEND_REPLY), Some(4_821_110));
    for (credit, expected) in [
        ("value=\"48211.109\"", Some(4_821_110)),
        ("value=\"-5.001\" symbol=\"bwp\"", Some(-501)),
        ("value=\"0\"", Some(0)),
        ("value=\"48211.10\" symbol=\"ZAR\"", None),
        ("value=\"plenty\"", None),
        ("", None),
    ] {
        assert_eq!(told(&with(VEND_REPLY, stated, credit)), expected, "{credit}");
    }
    assert_eq!(told(&with(VEND_REPLY, "b:clientStatus", "b:elsewhere")), None);
    let doubtful = vend(VEND_REPLY.as_bytes(), &water_order(), &rules()).unwrap();
    assert_eq!((doubtful.outcome.doubt(), doubtful.credit), (Some(Doubt::Mismatched), None));
}

#[test]
fn a_wrong_receipt_with_the_right_tender_is_a_vend_without_a_split() {
    for (what, reply) in [
        ("a line too many", with(VEND_REPLY, "value=\"12.50\"", "value=\"12.51\"")),
        ("a fraction of a thebe", with(VEND_REPLY, "value=\"12.50\"", "value=\"12.501\"")),
        ("more tax than amount", with(VEND_REPLY, "value=\"9.82\"", "value=\"80.01\"")),
        ("a negative line", with(&with(VEND_REPLY, "\"12.50\"", "\"-12.50\""), "\"80.00\"", "\"105.00\"")),
    ] {
        let vend = proven_by(&reply);
        assert_eq!((vend.breakdown, vend.tokens.is_some()), (None, true), "{what}");
        let no_tender = with(&reply, "<r:tenderAmt value=\"100.00\" symbol=\"BWP\"/>", "");
        assert_eq!(judged(&no_tender), unknown(Doubt::Mismatched), "{what}");
    }
}

#[test]
fn what_rounding_took_is_a_charge() {
    let rounded = with(VEND_REPLY, "value=\"12.50\"", "value=\"12.45\"");
    let rounded = with(&rounded, "<r:tenderAmt", "<r:lessRound value=\"0.05\"/><r:tenderAmt");
    assert_eq!(proven_by(&rounded).breakdown.unwrap().charge, minor(1_250));
}

#[test]
fn a_success_about_anything_else_is_doubt() {
    for (what, reply) in [
        ("water", with(VEND_REPLY, "b:Electricity", "b:Water")),
        ("another number", with(VEND_REPLY, "uniqueNumber=\"42\"", "uniqueNumber=\"43\"")),
        ("a signed number", with(VEND_REPLY, "uniqueNumber=\"42\"", "uniqueNumber=\"+42\"")),
        ("another second", with(VEND_REPLY, "dateTime=\"20261120093000\"", "dateTime=\"20261120093001\"")),
        (
            "no reference",
            with(VEND_REPLY, "<b:reqMsgID dateTime=\"20261120093000\" uniqueNumber=\"42\"/>", ""),
        ),
        ("another meter", with(VEND_REPLY, "msno=\"14301118432\"", "msno=\"14301118433\"")),
        ("no meter", with(VEND_REPLY, " msno=\"14301118432\"", "")),
        (
            "a key for another meter",
            with_key_change(&with(KEY_CHANGE, "msno=\"14301118432\"", "msno=\"14301118433\"")),
        ),
        ("another tender", with(VEND_REPLY, "tenderAmt value=\"100.00\"", "tenderAmt value=\"90.00\"")),
        (
            "another currency",
            with(VEND_REPLY, "value=\"80.00\" symbol=\"BWP\"", "value=\"80.00\" symbol=\"ZAR\""),
        ),
        (
            "another tax currency",
            with(VEND_REPLY, "value=\"9.82\" symbol=\"BWP\"", "value=\"9.82\" symbol=\"ZAR\""),
        ),
        ("no token", with(VEND_REPLY, &format!("<b:stsCipher>{TOKEN}</b:stsCipher>"), "")),
        ("an empty token", with(VEND_REPLY, TOKEN, " ")),
        ("a trial's token", with(VEND_REPLY, TOKEN, "00000000000000000000")),
        ("a short token", with(VEND_REPLY, TOKEN, "6172240511889003447")),
        ("a lettered token", with(VEND_REPLY, TOKEN, "6172240511889003447X")),
        ("a key change alone", with_key_change(KEY_CHANGE).replace("creditTokenIssue", "x")),
        (
            "half a key change",
            with_key_change(&with(KEY_CHANGE, "<b:stsCipher>56473829105647382910</b:stsCipher>", "")),
        ),
        (
            "no line that bought units",
            with(VEND_REPLY, "r:CreditVendTx", "r:ServiceChrgTx").replace("creditTokenIssue", "x"),
        ),
        ("a trial", with(VEND_REPLY, "creditVendResp", "trialCreditVendResp")),
    ] {
        assert_eq!(judged(&reply), unknown(Doubt::Mismatched), "{what}");
    }
}

#[test]
fn a_success_that_cannot_be_read_is_no_success() {
    for (what, reply) in [
        ("two references", with(VEND_REPLY, "<b:dispHeader>", "<b:reqMsgID/><b:dispHeader>")),
        ("two tenders", with(VEND_REPLY, "</r:transactions>", "<r:tenderAmt value=\"1\"/></r:transactions>")),
        ("a garbled token", with(VEND_REPLY, TOKEN, "6172|2405:1188")),
        (
            "a third key-change token",
            with_key_change(&with(
                KEY_CHANGE,
                "</b:set2ndMeterKey>",
                "</b:set2ndMeterKey><b:set3rdMeterKey/>",
            )),
        ),
        ("a garbled amount", with(VEND_REPLY, "\"80.00\"", "\"8e1\"")),
        ("no receipt", with(VEND_REPLY, "creditVendReceipt", "someReceipt")),
        ("no body", with(VEND_REPLY, "soap:Body", "soap:Torso")),
        ("no envelope", with(VEND_REPLY, "http://schemas.xmlsoap.org/soap/envelope/", "urn:envelope")),
        ("a foreign message", with(VEND_REPLY, "http://www.nrs.eskom.co.za/xmlvend/revenue/", "urn:other/")),
        ("an unknown message", with(VEND_REPLY, "creditVendResp", "freeIssueResp")),
        ("a web page", "<html><body>Bad gateway</body></html>".to_owned()),
        ("nothing", String::new()),
    ] {
        assert!(judged(&reply).is_err(), "{what}");
    }
}

#[test]
fn a_reply_cut_anywhere_proves_nothing() {
    for end in 0..VEND_REPLY.trim_end().len() {
        let cut = VEND_REPLY.get(..end).unwrap();
        assert!(judged(cut).is_err(), "{end}");
    }
}

fn water_reply() -> String {
    with(&with(VEND_REPLY, "b:Electricity", "b:Water"), "siUnit=\"kWh\"", "siUnit=\"kl\"")
}

#[test]
fn water_is_vended_in_litres_with_its_token_and_its_split() {
    let Ok(VendOutcome::Vended(vend)) = judged_for(&water_order(), &water_reply()) else {
        panic!("not vended");
    };
    assert_eq!(vend.tokens.unwrap().wire_form(), TOKEN);
    assert_eq!(vend.units.unwrap().to_string(), "52700 L");
    assert_eq!(vend.breakdown, proven_by(VEND_REPLY).breakdown);
    let trial = with(&water_reply(), "creditVendResp", "trialCreditVendResp");
    let trial = with(&trial, TOKEN, "00000000000000000000");
    let quoted = quotation(trial.as_bytes(), call(30, 42), &water_order().sale, &rules()).unwrap();
    assert_eq!(quoted.unwrap().units.unwrap().to_string(), "52700 L");
}

#[test]
fn water_counted_in_something_that_is_no_water_is_vended_without_a_quantity() {
    let odd = with(&water_reply(), "siUnit=\"kl\"", "siUnit=\"kWh\"");
    let Ok(VendOutcome::Vended(vend)) = judged_for(&water_order(), &odd) else {
        panic!("not vended");
    };
    assert_eq!((vend.units, vend.tokens.is_some()), (None, true));
}

#[test]
fn an_answer_about_another_product_is_doubt_and_one_that_names_none_is_not() {
    assert_eq!(judged_for(&water_order(), VEND_REPLY), unknown(Doubt::Mismatched));
    let unnamed = with(&water_reply(), "<b:resource xsi:type=\"b:Water\"/>", "");
    assert!(matches!(judged_for(&water_order(), &unnamed), Ok(VendOutcome::Vended(_))));
}

#[test]
fn water_may_come_without_a_token_but_not_with_a_broken_one() {
    let no_token = with(&water_reply(), &format!("<b:stsCipher>{TOKEN}</b:stsCipher>"), "");
    let Ok(VendOutcome::Vended(vend)) = judged_for(&water_order(), &no_token) else {
        panic!("not vended");
    };
    assert_eq!(vend.tokens, None);
    let no_unit = with(&no_token, " siUnit=\"kl\"", "");
    let Ok(VendOutcome::Vended(vend)) = judged_for(&water_order(), &no_unit) else {
        panic!("not vended");
    };
    assert_eq!(vend.units.unwrap().to_string(), "52700 L");
    let short = with(&water_reply(), TOKEN, "6172");
    assert_eq!(judged_for(&water_order(), &short), unknown(Doubt::Mismatched));
}

proptest! {
    #[test]
    fn arbitrary_bytes_prove_nothing(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(vend(&bytes, &order(), &rules()).is_err());
        prop_assert!(enquiry(&bytes, question(), &order(), &rules()).is_err());
        prop_assert!(customer(&bytes, question(), &order().sale.subscriber, &rules()).is_err());
    }

    #[test]
    fn arbitrary_markup_proves_nothing(text in "(<[/a-zA-Z: ]{0,12}(xmlns=\"[a-z:]{0,9}\")?/?>|[&;#a-z0-9]{0,6}){0,40}") {
        let judged = judged(&text);
        prop_assert!(!matches!(judged, Ok(VendOutcome::Vended(_) | VendOutcome::Refused(_))));
    }

    #[test]
    fn one_wrong_byte_never_makes_a_refusal_of_a_vend(at in 0..VEND_REPLY.len(), byte: u8) {
        let mut bytes = VEND_REPLY.as_bytes().to_vec();
        bytes[at] = byte;
        let outcome = vend(&bytes, &order(), &rules()).map(|judged| judged.outcome);
        prop_assert!(!matches!(outcome, Ok(VendOutcome::Refused(_))));
    }
}
