//! Tests of which faults are definite refusals.
#![expect(clippy::unnecessary_wraps, reason = "expected values have the type of the judged values")]

use super::*;
use crate::fault_texts::FaultText;

const OURS: Option<(&str, &str)> = Some(("20261120093000", "000042"));
const ANOTHERS: Option<(&str, &str)> = Some(("20261120093000", "43"));
const NO_REFERENCE: Option<(&str, &str)> = None;

/// Every fault type of the standard, and one that the standard does not have, with the expected result.
const EVERY_TYPE: [(&str, Option<RefusalReason>); 37] = [
    ("SystemEx", None),
    ("XMLVendFaultEx", None),
    ("XMLVendSchemaEx", Some(RefusalReason::Misconfigured)),
    ("UseCaseSupportEx", Some(RefusalReason::Misconfigured)),
    ("ClientIDSSLEx", Some(RefusalReason::Misconfigured)),
    ("LastResponseEx", None),
    ("ReversalEx", None),
    ("ConfirmationEx", None),
    ("BusinessRuleEx", Some(RefusalReason::Other)),
    ("UnknownMeterEx", Some(RefusalReason::UnknownSubscriber)),
    ("BlockedMeterEx", Some(RefusalReason::Blocked)),
    ("MSNOCheckDigitEx", Some(RefusalReason::WrongCheckDigit)),
    ("STSDataEx", Some(RefusalReason::Unsupported)),
    ("InsufficientMeterDataEx", Some(RefusalReason::Unsupported)),
    ("RequireMeterCardEx", Some(RefusalReason::Unsupported)),
    ("LatestKRNEx", Some(RefusalReason::Unsupported)),
    ("SGCAuthorisationEx", Some(RefusalReason::Misconfigured)),
    ("RequestAuthorisationEx", Some(RefusalReason::Misconfigured)),
    ("ClientIDAuthorisationEx", Some(RefusalReason::Misconfigured)),
    ("VendorCreditEx", Some(RefusalReason::FloatExhausted)),
    ("ConfirmCustomerEx", Some(RefusalReason::UnknownSubscriber)),
    ("DebtEx", Some(RefusalReason::Blocked)),
    ("ServiceChrgEx", Some(RefusalReason::Blocked)),
    ("FBEEx", None),
    ("CancelEx", None),
    ("ReprintEx", None),
    ("VerifyTokenEx", None),
    ("UnknownMeterUpdateMtrKeyEx", None),
    ("UpdateMtrKeySameEx", None),
    ("StartBatchEx", None),
    ("EndBatchEx", None),
    ("CheckBatchTotalEx", None),
    ("ReprintEndBatchEx", None),
    ("ReprintDepositSlipEx", None),
    ("Fault", None),
    ("unknownmeterex", None),
    ("NoSuchEx", None),
];

pub(super) fn message_id(name: &str, id: Option<(&str, &str)>) -> String {
    id.map_or(String::new(), |(second, number)| {
        format!("<b:{name} dateTime=\"{second}\" uniqueNumber=\"{number}\"/>")
    })
}

pub(super) fn fault_content(kind: &str, id: Option<(&str, &str)>, description: &str) -> String {
    format!(
        "<b:clientID xsi:type=\"b:EANDeviceID\" ean=\"1\"/>{}<b:fault xsi:type=\"b:{kind}\"><b:desc>{description}</b:desc></b:fault>",
        message_id("reqMsgID", id)
    )
}

pub(super) fn in_body(content: &str) -> String {
    format!(
        "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:b=\"{}\" xmlns:r=\"{}\" xmlns:xsi=\"{}\"><s:Body>{content}</s:Body></s:Envelope>",
        crate::names::BASE,
        crate::names::REVENUE,
        crate::names::XSI
    )
}

pub(super) fn fault(kind: &str, id: Option<(&str, &str)>, description: &str) -> String {
    in_body(&format!(
        "<s:Fault><faultcode>s:Server</faultcode><faultstring>Fault</faultstring><detail><b:xmlvendFaultResp>{}</b:xmlvendFaultResp></detail></s:Fault>",
        fault_content(kind, id, description)
    ))
}

fn refused(reason: RefusalReason, wording: &str) -> Result<VendOutcome, Malformed> {
    Ok(VendOutcome::Refused(Refusal { reason, wording: Some(wording.to_owned()) }))
}

#[test]
fn a_fault_refuses_a_vend_only_if_its_type_is_listed_and_it_carries_our_reference() {
    for (kind, expected) in EVERY_TYPE {
        let (ours, others) = match expected {
            Some(reason) => (refused(reason, "No sale"), unknown(Doubt::Mismatched)),
            None => (unknown(Doubt::UnlistedFault), unknown(Doubt::UnlistedFault)),
        };
        assert_eq!(judged(&fault(kind, OURS, "No sale")), ours, "{kind}");
        assert_eq!(judged(&fault(kind, ANOTHERS, "No sale")), others, "{kind} for another");
        assert_eq!(judged(&fault(kind, NO_REFERENCE, "No sale")), others, "{kind} without a reference");
    }
}

#[test]
fn a_business_rule_without_a_type_is_told_by_its_text() {
    for (text, reason) in [
        ("Amount BELOW MINIMUM vend of 10.00", RefusalReason::BelowMinimum),
        ("Amount too low", RefusalReason::BelowMinimum),
        ("Exceeds the maximum vend", RefusalReason::AboveMaximum),
        ("Amount above maximum", RefusalReason::AboveMaximum),
        ("Duplicate sale within 30 minutes", RefusalReason::DuplicateSale),
        ("Server busy", RefusalReason::Busy),
        ("Please try again later", RefusalReason::Busy),
        ("Closed for stocktaking", RefusalReason::Other),
        ("Vending is temporarily suspended", RefusalReason::OtherTransient),
        ("This meter cannot be served at the moment", RefusalReason::OtherTransient),
        ("Meter disconnected", RefusalReason::Disconnected),
    ] {
        assert_eq!(judged(&fault("BusinessRuleEx", OURS, text)), refused(reason, text), "{text}");
        assert_eq!(
            judged(&fault("BusinessRuleEx", NO_REFERENCE, text)),
            unknown(Doubt::Mismatched),
            "{text}"
        );
        assert_eq!(
            judged(&fault("SystemEx", OURS, text)).map(|outcome| matches!(outcome, VendOutcome::Unknown(_))),
            Ok(true),
            "{text}"
        );
    }
}

#[test]
fn a_text_refines_a_type_that_leaves_something_open() {
    for (kind, text, reason) in [
        ("UnknownMeterEx", "Meter disconnected", RefusalReason::Disconnected),
        ("ConfirmCustomerEx", "Customer was disconnected in May", RefusalReason::Disconnected),
        ("UnknownMeterEx", "Meter not found", RefusalReason::UnknownSubscriber),
        ("BlockedMeterEx", "Temporarily blocked", RefusalReason::Blocked),
        ("XMLVendSchemaEx", "Temporarily not well-formed", RefusalReason::Misconfigured),
    ] {
        assert_eq!(judged(&fault(kind, OURS, text)), refused(reason, text), "{kind} {text}");
    }
}

#[test]
fn a_repeated_reference_is_doubt_whatever_type_says_it() {
    for (kind, _expected) in EVERY_TYPE.iter().filter(|(kind, _expected)| *kind != "LastResponseEx") {
        let text = "Terminated due to duplicate unique value";
        for id in [OURS, ANOTHERS, NO_REFERENCE] {
            assert_eq!(judged(&fault(kind, id, text)), unknown(Doubt::RepeatedReference), "{kind}");
        }
    }
}

#[test]
fn a_request_that_is_still_in_work_is_doubt() {
    let text = "Order is still being processed";
    for kind in ["SystemEx", "BusinessRuleEx", "UnknownMeterEx"] {
        assert_eq!(judged(&fault(kind, OURS, text)), unknown(Doubt::StillOpen), "{kind}");
    }
}

#[test]
fn own_fault_texts_never_turn_a_system_fault_into_a_refusal() {
    let text =
        |contains: &str, means: &str| FaultText { contains: contains.to_owned(), means: means.to_owned() };
    let own = [text("VD.17020006", "float_exhausted"), text("busy", "blocked")];
    let rules = Rules { fault_texts: FaultTexts::new(&own).unwrap(), ..rules() };
    let judged = |kind, words| judged_by(&order(), &fault(kind, OURS, words), &rules);
    assert_eq!(
        judged("BusinessRuleEx", "vd.17020006 no funds"),
        refused(RefusalReason::FloatExhausted, "vd.17020006 no funds")
    );
    assert_eq!(judged("BusinessRuleEx", "busy"), refused(RefusalReason::Blocked, "busy"));
    assert_eq!(judged("SystemEx", "VD.17020006"), unknown(Doubt::UnlistedFault));
    for (bad, empty) in
        [(text("  ", "busy"), true), (text("x", "never_sent"), false), (text("x", "y"), false)]
    {
        let error = FaultTexts::new(&[bad]).unwrap_err();
        assert_eq!(matches!(error, crate::SettingsError::EmptyFaultText), empty);
    }
}

#[test]
fn a_fault_is_read_in_every_form_in_which_gateways_write_it() {
    let content = fault_content("BlockedMeterEx", OURS, "Blocked");
    let expected = refused(RefusalReason::Blocked, "Blocked");
    let bare =
        content.replace("b:", "").replace("xsi:type=\"BlockedMeterEx\"", "xsi:type=\"q1:BlockedMeterEx\"");
    for (form, reply) in [
        ("as a message", in_body(&format!("<b:xmlvendFaultResp>{content}</b:xmlvendFaultResp>"))),
        (
            "without namespace",
            in_body(&format!(
                "<s:Fault><faultstring>x</faultstring><detail><XMLVendFaultResp>{bare}</XMLVendFaultResp></detail></s:Fault>"
            )),
        ),
        (
            "in SOAP 1.2",
            in_body(&format!(
                "<s:Fault><s:Code/><s:Reason><s:Text>x</s:Text></s:Reason><s:Detail><b:xmlvendFaultResp>{content}</b:xmlvendFaultResp></s:Detail></s:Fault>"
            ))
            .replace(crate::names::SOAP_1_1, crate::names::SOAP_1_2),
        ),
        (
            "under another xsi prefix",
            fault("BlockedMeterEx", OURS, "Blocked").replace("xmlns:xsi", "xmlns:p9").replace("xsi:", "p9:"),
        ),
    ] {
        assert_eq!(judged(&reply), expected, "{form}");
    }
}

#[test]
fn a_fault_with_only_a_text_is_doubt() {
    let words = |text: &str| {
        in_body(&format!(
            "<s:Fault><faultcode>s:Server</faultcode><faultstring>{text}</faultstring></s:Fault>"
        ))
    };
    assert_eq!(judged(&words("Meter blocked")), unknown(Doubt::UnlistedFault));
    assert_eq!(judged(&words("Server busy, try again")), unknown(Doubt::UnlistedFault));
    assert_eq!(judged(&words("Duplicate message")), unknown(Doubt::RepeatedReference));
}

#[test]
fn the_wording_is_for_people_and_is_cleaned() {
    let content = fault_content("UnknownMeterEx", OURS, "E17");
    let said = format!(
        "{content}<b:operatorMsg>Op</b:operatorMsg><b:custMsg> No&#10;such&#9; meter {} </b:custMsg>",
        "x".repeat(300)
    );
    let reply = in_body(&format!("<b:xmlvendFaultResp>{said}</b:xmlvendFaultResp>"));
    let expected = format!("No such meter {}", "x".repeat(146));
    assert_eq!(judged(&reply), refused(RefusalReason::UnknownSubscriber, &expected));
}
