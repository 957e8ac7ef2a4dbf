//! The table from the protocol's fault types to refusal reasons.

use vend::{Refusal, RefusalReason};

use crate::fault_texts::{FaultTexts, TextMeaning};
use crate::reply::FaultReply;

/// The definite faults: the gateway examined the request and did not carry it out. A type that is not listed proves
/// nothing, in particular `SystemEx`. The types of use cases that we never request are not listed either: in an answer
/// to us they mean that something else is wrong.
const DEFINITE: [(&str, RefusalReason); 18] = [
    ("UnknownMeterEx", RefusalReason::UnknownSubscriber),
    ("ConfirmCustomerEx", RefusalReason::UnknownSubscriber),
    ("MSNOCheckDigitEx", RefusalReason::WrongCheckDigit),
    ("BlockedMeterEx", RefusalReason::Blocked),
    ("DebtEx", RefusalReason::Blocked),
    ("ServiceChrgEx", RefusalReason::Blocked),
    ("STSDataEx", RefusalReason::Unsupported),
    ("InsufficientMeterDataEx", RefusalReason::Unsupported),
    ("RequireMeterCardEx", RefusalReason::Unsupported),
    ("LatestKRNEx", RefusalReason::Unsupported),
    ("VendorCreditEx", RefusalReason::FloatExhausted),
    ("SGCAuthorisationEx", RefusalReason::Misconfigured),
    ("RequestAuthorisationEx", RefusalReason::Misconfigured),
    ("ClientIDAuthorisationEx", RefusalReason::Misconfigured),
    ("ClientIDSSLEx", RefusalReason::Misconfigured),
    ("XMLVendSchemaEx", RefusalReason::Misconfigured),
    ("UseCaseSupportEx", RefusalReason::Misconfigured),
    (GENERIC_RULE, RefusalReason::Other),
];

/// A business rule without its own type. Its text says which rule it is.
const GENERIC_RULE: &str = "BusinessRuleEx";

/// The gateway has no vend under the reference of the enquiry.
const NO_RECORD: &str = "LastResponseEx";

/// What a fault says about its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Refused(Refusal),
    RepeatedReference,
    StillOpen,
    NoRecord,
    Unlisted,
}

/// The meaning of a fault in answer to a vend or to an enquiry about a vend.
pub(crate) fn about_money(fault: &FaultReply, texts: &FaultTexts) -> Meaning {
    let kind = fault.kind.as_deref().unwrap_or_default();
    if kind == NO_RECORD {
        return Meaning::NoRecord;
    }
    let by_text = if kind == GENERIC_RULE { texts.first(fault) } else { texts.doubt(fault) };
    let by_type = DEFINITE.into_iter().find(|(known, _reason)| *known == kind);
    match (by_text, by_type) {
        (Some(TextMeaning::RepeatedReference), _) => Meaning::RepeatedReference,
        (Some(TextMeaning::StillOpen), _) => Meaning::StillOpen,
        (Some(TextMeaning::Refused(reason)), _) | (None, Some((_, reason))) => refused(fault, reason),
        (None, None) => Meaning::Unlisted,
    }
}

/// The meaning of a fault in answer to a question that moves no money. Here the text may give the meaning of any fault
/// type, because some gateways report an unknown meter as `SystemEx`.
pub(crate) fn about_a_question(fault: &FaultReply, texts: &FaultTexts) -> Meaning {
    match (about_money(fault, texts), texts.first(fault)) {
        (Meaning::Unlisted, Some(TextMeaning::Refused(reason))) => refused(fault, reason),
        (meaning, _) => meaning,
    }
}

/// The text may add to the type: that the refusal is transient, or that the meter is disconnected.
fn refused(fault: &FaultReply, reason: RefusalReason) -> Meaning {
    let reason = fault.texts().fold(reason, RefusalReason::refined_by);
    Meaning::Refused(Refusal { reason, wording: fault.wording() })
}
