//! What each fault means. The one table from the protocol's fault types to refusal reasons.

use vend::{Refusal, RefusalReason};

use crate::fault_texts::{FaultTexts, TextMeaning};
use crate::reply::FaultReply;

/// The faults that are definite: the gateway looked at the request and did not carry it out. A type that
/// is not here proves nothing, `SystemEx` first of all. So do the types of use cases that we never ask
/// for: in an answer to us they mean that something else is wrong.
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

/// A business rule without a type of its own; its text says which.
const GENERIC_RULE: &str = "BusinessRuleEx";

/// The gateway knows no vend under the reference that was asked about.
const NO_RECORD: &str = "LastResponseEx";

/// What a fault says about the message that it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Refused(Refusal),
    RepeatedReference,
    StillOpen,
    NoRecord,
    Unlisted,
}

/// What a fault means in answer to a message that moves money, or in answer to one about it.
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

/// What a fault means in answer to a question that moves nothing: there a text may speak for a fault of
/// any type, as gateways exist that call an unknown meter a `SystemEx`.
pub(crate) fn about_a_question(fault: &FaultReply, texts: &FaultTexts) -> Meaning {
    match (about_money(fault, texts), texts.first(fault)) {
        (Meaning::Unlisted, Some(TextMeaning::Refused(reason))) => refused(fault, reason),
        (meaning, _) => meaning,
    }
}

/// A text may say more than the type: that the refusal is transient, or that the meter is known and disconnected.
fn refused(fault: &FaultReply, reason: RefusalReason) -> Meaning {
    let reason = fault.texts().fold(reason, RefusalReason::refined_by);
    Meaning::Refused(Refusal { reason, wording: fault.wording() })
}
