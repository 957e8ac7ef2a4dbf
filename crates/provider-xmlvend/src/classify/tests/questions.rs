//! Answers to questions: enquiries, customer checks and quotes.
#![expect(clippy::unnecessary_wraps, reason = "expected values have the type of the judged values")]

use super::faults::{fault, fault_content, in_body, message_id};
use super::*;

const CUSTOMER_REPLY: &str = include_str!("../../../tests/fixtures/customer_reply.xml");
const QUESTION: Option<(&str, &str)> = Some(("20261120092900", "41"));
const ORDER: Option<(&str, &str)> = Some(("20261120093000", "42"));
const ANOTHER: Option<(&str, &str)> = Some(("20261120093000", "43"));

/// An answer to an enquiry: the id of the enquiry, the id of the order, and the earlier answer.
fn advice(answers: Option<(&str, &str)>, about: Option<(&str, &str)>, last_response: &str) -> String {
    in_body(&format!(
        "<b:adviceResp xsi:type=\"b:LastRespAdviceResp\">{}{}{last_response}</b:adviceResp>",
        message_id("reqMsgID", answers),
        message_id("adviceReqMsgID", about)
    ))
}

/// The vend reply in the form that it has inside an advice.
fn remembered_vend(reply: &str) -> String {
    let from = reply.find("<r:creditVendResp").unwrap();
    let to = reply.find("</r:creditVendResp>").unwrap();
    let message = reply.get(from..to).unwrap().replacen(
        "<r:creditVendResp",
        "<b:lastResponse xsi:type=\"r:CreditVendResp\"",
        1,
    );
    format!("{message}</b:lastResponse>")
}

fn remembered_fault(kind: &str, id: Option<(&str, &str)>, text: &str) -> String {
    format!(
        "<b:lastResponse xsi:type=\"b:XMLVendFaultResp\">{}</b:lastResponse>",
        fault_content(kind, id, text)
    )
}

fn asked(reply: &str) -> Result<Enquiry, Malformed> {
    Ok(match enquiry(reply.as_bytes(), question(), &order(), &rules())? {
        Enquiry::Unanswered(unclear) => Enquiry::Unanswered(kept(unclear, reply).into()),
        answered @ (Enquiry::Vended(_) | Enquiry::Refused(_) | Enquiry::NoRecord | Enquiry::StillOpen) => {
            answered
        }
    })
}

fn unanswered_for(doubt: Doubt) -> Result<Enquiry, Malformed> {
    Ok(Enquiry::Unanswered(doubt.into()))
}

#[test]
fn a_remembered_vend_proves_as_much_as_the_reply_itself() {
    for about in [ORDER, None] {
        let Ok(Enquiry::Vended(vend)) = asked(&advice(QUESTION, about, &remembered_vend(VEND_REPLY))) else {
            panic!("not found");
        };
        let first = proven_by(VEND_REPLY);
        assert_eq!((vend.tokens, vend.units, vend.breakdown), (first.tokens, first.units, first.breakdown));
    }
}

#[test]
fn an_answer_about_another_order_is_no_answer() {
    let vend = remembered_vend(VEND_REPLY);
    let others_vend = remembered_vend(&with(VEND_REPLY, "uniqueNumber=\"42\"", "uniqueNumber=\"43\""));
    let others_meter = remembered_vend(&with(VEND_REPLY, "msno=\"14301118432\"", "msno=\"14301118433\""));
    for (what, reply) in [
        ("answers another question", advice(ANOTHER, ORDER, &vend)),
        ("answers no question", advice(None, ORDER, &vend)),
        ("is about another order", advice(QUESTION, ANOTHER, &vend)),
        ("holds another order's reply", advice(QUESTION, ORDER, &others_vend)),
        ("holds another meter's reply", advice(QUESTION, ORDER, &others_meter)),
        (
            "holds another order's refusal",
            advice(QUESTION, ORDER, &remembered_fault("BlockedMeterEx", ANOTHER, "x")),
        ),
        (
            "holds a refusal without a reference",
            advice(QUESTION, ORDER, &remembered_fault("BlockedMeterEx", None, "x")),
        ),
        ("is a vend", VEND_REPLY.to_owned()),
        ("says that another question has no record", fault("LastResponseEx", ANOTHER, "none")),
        ("says that there is no record, without a reference", fault("LastResponseEx", None, "none")),
        ("refuses the order instead of the question", fault("BlockedMeterEx", ORDER, "x")),
    ] {
        assert_eq!(asked(&reply), unanswered_for(Doubt::Mismatched), "{what}");
    }
}

#[test]
fn a_remembered_refusal_is_a_refusal_and_a_remembered_system_fault_is_doubt() {
    let remembered = |kind, text| asked(&advice(QUESTION, ORDER, &remembered_fault(kind, ORDER, text)));
    let refusal = Refusal { reason: RefusalReason::Blocked, wording: Some("Blocked".to_owned()) };
    assert_eq!(remembered("BlockedMeterEx", "Blocked"), Ok(Enquiry::Refused(refusal)));
    assert_eq!(remembered("SystemEx", "Blocked"), unanswered_for(Doubt::UnlistedFault));
    assert_eq!(remembered("LastResponseEx", "none"), unanswered_for(Doubt::UnlistedFault));
    assert_eq!(remembered("SystemEx", "duplicate msgID"), unanswered_for(Doubt::RepeatedReference));
    assert_eq!(remembered("SystemEx", "still being processed"), Ok(Enquiry::StillOpen));
}

#[test]
fn only_the_fault_for_it_means_no_record() {
    assert_eq!(asked(&fault("LastResponseEx", QUESTION, "No transaction")), Ok(Enquiry::NoRecord));
    assert_eq!(asked(&fault("SystemEx", QUESTION, "still being processed")), Ok(Enquiry::StillOpen));
    for kind in [
        "SystemEx",
        "BlockedMeterEx",
        "UnknownMeterEx",
        "ClientIDSSLEx",
        "UseCaseSupportEx",
        "BusinessRuleEx",
    ] {
        let reply = fault(kind, QUESTION, "No transaction");
        assert_eq!(asked(&reply), unanswered_for(Doubt::UnlistedFault), "{kind}");
    }
}

#[test]
fn an_advice_without_a_readable_last_response_is_unreadable() {
    for last in ["", "<b:lastResponse/>", "<b:lastResponse xsi:type=\"r:FreeIssueResp\"/>"] {
        assert!(asked(&advice(QUESTION, ORDER, last)).is_err(), "{last:?}");
    }
}

fn checked(reply: &str) -> Result<Customer, Unanswered> {
    customer(reply.as_bytes(), question(), &order().sale.subscriber, &rules()).unwrap()
}

const MISMATCHED: Unanswered = Unanswered::NoAnswer(Doubt::Mismatched);

#[test]
fn a_customer_has_a_name_and_limits() {
    let customer = Customer {
        name: Some("K MOLEFE".to_owned()),
        barred: None,
        minimum: Some(minor(1_500)),
        maximum: Some(minor(350_000)),
    };
    assert_eq!(checked(CUSTOMER_REPLY), Ok(customer));
}

#[test]
fn a_customer_that_may_not_vend_is_barred() {
    let reply = with(CUSTOMER_REPLY, "<r:canVend>true", "<r:canVend>false");
    assert_eq!(checked(&reply).unwrap().barred, Some(Refusal::because(RefusalReason::Blocked)));
}

#[test]
fn a_customer_reply_may_leave_out_what_it_does_not_know() {
    let from = CUSTOMER_REPLY.find("<r:custVendConfig>").unwrap();
    let to = CUSTOMER_REPLY.find("</r:confirmCustResult>").unwrap();
    let bare = with(CUSTOMER_REPLY, CUSTOMER_REPLY.get(from..to).unwrap(), "").replace(" symbol=\"BWP\"", "");
    let nothing_known =
        Customer { name: Some("K MOLEFE".to_owned()), barred: None, minimum: None, maximum: None };
    assert_eq!(checked(&bare), Ok(nothing_known));
}

#[test]
fn an_answer_about_another_customer_is_no_answer() {
    for reply in [
        with(CUSTOMER_REPLY, "uniqueNumber=\"41\"", "uniqueNumber=\"42\""),
        with(CUSTOMER_REPLY, "msno=\"14301118432\"", "msno=\"14301118433\""),
        with(CUSTOMER_REPLY, "value=\"15.00\" symbol=\"BWP\"", "value=\"15.00\" symbol=\"ZAR\""),
        with(CUSTOMER_REPLY, "r:confirmCustResult>", "r:noResult>"),
        VEND_REPLY.to_owned(),
    ] {
        assert_eq!(checked(&reply), Err(MISMATCHED));
    }
}

#[test]
fn a_question_may_be_refused_by_text_and_without_a_reference() {
    for id in [QUESTION, None] {
        let unknown =
            Refusal { reason: RefusalReason::UnknownSubscriber, wording: Some("Meter Not Found".to_owned()) };
        assert_eq!(checked(&fault("SystemEx", id, "Meter Not Found")), Err(Unanswered::Refused(unknown)));
        let wrong = Refusal { reason: RefusalReason::WrongCheckDigit, wording: Some("x".to_owned()) };
        assert_eq!(checked(&fault("MSNOCheckDigitEx", id, "x")), Err(Unanswered::Refused(wrong)));
        assert_eq!(checked(&fault("SystemEx", id, "oops")), Err(Unanswered::NoAnswer(Doubt::UnlistedFault)));
    }
    assert_eq!(checked(&fault("MSNOCheckDigitEx", ANOTHER, "x")), Err(MISMATCHED));
}

fn quoted_by(reply: &str) -> Result<Quotation, Unanswered> {
    quotation(reply.as_bytes(), question(), &order().sale, &rules()).unwrap().map_err(Unanswered::from)
}

#[test]
fn a_quote_asks_for_no_dummy_and_takes_no_token() {
    let trial = with(VEND_REPLY, "creditVendResp", "trialCreditVendResp");
    let trial = with(&trial, "20261120093000\" uniqueNumber=\"42", "20261120092900\" uniqueNumber=\"41");
    let vended = proven_by(VEND_REPLY);
    for token in ["00000000000000000000", "0000000000000000", ""] {
        let quotation = quoted_by(&with(&trial, TOKEN, token)).unwrap();
        assert_eq!((quotation.units, quotation.breakdown), (vended.units.clone(), vended.breakdown));
        assert_eq!(quotation.subscriber_details, vended.subscriber_details);
    }
    let without = with(&trial, TOKEN, "00000000000000000000");
    for reply in [
        with(&without, "\"12.50\"", "\"12.00\""),
        with(&without, "\"41\"", "\"44\""),
        VEND_REPLY.to_owned(),
        trial.clone(),
    ] {
        assert_eq!(quoted_by(&reply), Err(MISMATCHED));
    }
    assert_eq!(
        quotation(trial.as_bytes(), question(), &order().sale, &rules()).unwrap(),
        Err(Untried::RealToken)
    );
    let refusal = Refusal { reason: RefusalReason::BelowMinimum, wording: Some("Below minimum".to_owned()) };
    assert_eq!(
        quoted_by(&fault("BusinessRuleEx", QUESTION, "Below minimum")),
        Err(Unanswered::Refused(refusal))
    );
}
