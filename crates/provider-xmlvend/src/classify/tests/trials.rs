//! Trials: they need the same proof as a vend, with a dummy in place of every token.

use super::faults::fault;
use super::*;

const ZEROS: &str = "00000000000000000000";
const MISSING: Result<Quotation, Untried> = Err(Untried::TokenMissing);
const REAL: Result<Quotation, Untried> = Err(Untried::RealToken);

/// The vend reply as the answer to a trial, still with a real token.
fn untouched_trial() -> String {
    under_the_question(&with(VEND_REPLY, "creditVendResp", "trialCreditVendResp"))
}

fn under_the_question(reply: &str) -> String {
    with(reply, "20261120093000\" uniqueNumber=\"42", "20261120092900\" uniqueNumber=\"41")
}

fn trial_reply() -> String {
    with(&untouched_trial(), TOKEN, ZEROS)
}

fn key_change_of(first: &str, second: &str) -> String {
    let key_change = with(KEY_CHANGE, "10293847561029384756", first);
    with(&key_change, "56473829105647382910", second)
}

fn trial_with(key_change: &str) -> String {
    with(&trial_reply(), "<r:tariff>", &format!("{key_change}<r:tariff>"))
}

fn tried_for(sale: &Sale, reply: &str) -> Result<Quotation, Untried> {
    trial(reply.as_bytes(), question(), sale, &rules()).unwrap()
}

fn tried(reply: &str) -> Result<Quotation, Untried> {
    tried_for(&order().sale, reply)
}

fn mismatched() -> Result<Quotation, Untried> {
    Err(Untried::Unanswered(Unanswered::NoAnswer(Doubt::Mismatched)))
}

#[test]
fn a_dummy_of_any_number_of_zeros_proves_what_a_vend_would_yield() {
    let vended = proven_by(VEND_REPLY);
    for dummy in [ZEROS, "0000000000000000", "0000 0000 0000 0000 0000", "0000-0000-0000-0000"] {
        let quotation = tried(&with(&trial_reply(), ZEROS, dummy)).unwrap();
        assert_eq!((quotation.units, quotation.breakdown), (vended.units.clone(), vended.breakdown));
        assert_eq!(quotation.subscriber_details, vended.subscriber_details, "{dummy}");
    }
}

#[test]
fn a_key_change_is_tried_with_three_dummies_and_not_with_fewer() {
    assert!(tried(&trial_with(&key_change_of(ZEROS, ZEROS))).is_ok());
    let half = with(&key_change_of(ZEROS, "-"), "<b:stsCipher>-</b:stsCipher>", "");
    assert_eq!(tried(&trial_with(&half)), MISSING);
    let alone = with(&trial_with(&key_change_of(ZEROS, ZEROS)), "creditTokenIssue", "x");
    assert_eq!(tried(&alone), MISSING);
}

#[test]
fn a_trial_without_the_token_that_a_vend_owes_proves_nothing() {
    assert_eq!(tried(&with(&trial_reply(), ZEROS, "")), MISSING);
    assert_eq!(tried(&with(&trial_reply(), &format!("<b:stsCipher>{ZEROS}</b:stsCipher>"), "")), MISSING);
    let water = with(&trial_reply(), "b:Electricity", "b:Water");
    let tokenless = with(&with(&water, "siUnit=\"kWh\"", "siUnit=\"kl\""), ZEROS, "");
    let quotation = tried_for(&water_order().sale, &tokenless).unwrap();
    assert_eq!(quotation.units.unwrap().to_string(), "52700 L", "water owes none");
}

#[test]
fn a_real_token_in_a_trial_is_noticed_in_spite_of_other_errors() {
    let untouched = untouched_trial();
    for (what, reply) in [
        ("a token", untouched.clone()),
        ("one digit", with(&trial_reply(), ZEROS, "00000000000000000001")),
        ("letters", with(&trial_reply(), ZEROS, "VOUCHER00000")),
        ("no digit", with(&trial_reply(), ZEROS, "-")),
        ("a first key", trial_with(&key_change_of(TOKEN, ZEROS))),
        ("a second key", trial_with(&key_change_of(ZEROS, TOKEN))),
        (
            "half a key change",
            trial_with(&with(&key_change_of("-", TOKEN), "<b:stsCipher>-</b:stsCipher>", "")),
        ),
        ("a token of another", with(&untouched, "uniqueNumber=\"41\"", "uniqueNumber=\"44\"")),
        ("a token for another meter", with(&untouched, "msno=\"14301118432\"", "msno=\"14301118433\"")),
        ("a receipt that does not add up", with(&untouched, "\"100.00\"", "\"90.00\"")),
        ("a vend", under_the_question(VEND_REPLY)),
        ("another's vend", VEND_REPLY.to_owned()),
    ] {
        let untried = tried(&reply);
        assert_eq!(untried, REAL, "{what}");
        assert!(!format!("{untried:?}").contains(TOKEN), "{what}");
        assert_eq!(Unanswered::from(untried.unwrap_err()), Unanswered::NoAnswer(Doubt::Mismatched));
    }
}

#[test]
fn a_trial_is_judged_as_strictly_as_a_quote_and_as_a_vend() {
    let trial = trial_reply();
    for (what, reply) in [
        ("another reference", with(&trial, "uniqueNumber=\"41\"", "uniqueNumber=\"44\"")),
        ("no reference", with(&trial, "<b:reqMsgID dateTime=\"20261120092900\" uniqueNumber=\"41\"/>", "")),
        ("another meter", with(&trial, "msno=\"14301118432\"", "msno=\"14301118433\"")),
        ("no meter", with(&trial, " msno=\"14301118432\"", "")),
        ("another amount", with(&trial, "tenderAmt value=\"100.00\"", "tenderAmt value=\"90.00\"")),
        ("another currency", with(&trial, "\"80.00\" symbol=\"BWP\"", "\"80.00\" symbol=\"ZAR\"")),
        ("water", with(&trial, "b:Electricity", "b:Water")),
        ("a receipt that does not add up", with(&trial, "value=\"12.50\"", "value=\"12.51\"")),
        ("a vend of zeros", under_the_question(&with(VEND_REPLY, TOKEN, ZEROS))),
    ] {
        assert_eq!(tried(&reply), mismatched(), "{what}");
        assert_eq!(quotation(reply.as_bytes(), question(), &order().sale, &rules()).unwrap(), mismatched());
    }
}

#[test]
fn a_trial_may_be_refused_and_an_answer_that_cannot_be_read_is_none() {
    let question = Some(("20261120092900", "41"));
    let refusal = Refusal { reason: RefusalReason::BelowMinimum, wording: Some("Below minimum".to_owned()) };
    assert_eq!(
        tried(&fault("BusinessRuleEx", question, "Below minimum")),
        Err(Untried::Unanswered(Unanswered::Refused(refusal)))
    );
    let garbled = with(&trial_reply(), ZEROS, "6172|2405:1188");
    assert_eq!(
        trial(garbled.as_bytes(), self::question(), &order().sale, &rules()),
        Err(Malformed::BadValue("token"))
    );
}
