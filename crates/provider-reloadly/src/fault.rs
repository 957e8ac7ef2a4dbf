//! The table from the vendor's error codes to refusal reasons.

use serde::Deserialize;
use vend::RefusalReason;

use crate::settings::SettingsError;

/// One line of a deployment's own table. It exists because the vendor's published list is incomplete.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultCode {
    /// The vendor's `errorCode`.
    pub code: String,
    /// The stable name of a refusal reason, or `repeated_reference`, or `unlisted` for doubt.
    pub means: String,
}

/// What a code says about its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The vendor examined the request and did not carry it out.
    Refused(RefusalReason),
    /// The vendor already has our identifier.
    RepeatedReference,
    /// The code proves nothing.
    Unlisted,
}

/// The deployment's lines, followed by the built-in ones. The first match counts.
#[derive(Clone, Debug)]
pub(crate) struct FaultCodes(Vec<(String, Meaning)>);

/// The definite codes. `TOPUP_TRANSACTION_FAILED` and `TRANSACTION_CANNOT_BE_PROCESSED_AT_THE_MOMENT` are not included,
/// because they are about a transaction that was started.
const BUILT_IN: [(&str, Meaning); 22] = [
    ("INVALID_RECIPIENT_PHONE", Meaning::Refused(RefusalReason::UnknownSubscriber)),
    ("INVALID_PHONE_NUMBER", Meaning::Refused(RefusalReason::UnknownSubscriber)),
    ("COULD_NOT_AUTO_DETECT_OPERATOR", Meaning::Refused(RefusalReason::UnknownSubscriber)),
    ("PHONE_RECENTLY_RECHARGED", Meaning::Refused(RefusalReason::DuplicateSale)),
    ("INVALID_AMOUNT", Meaning::Refused(RefusalReason::Other)),
    ("INVALID_AMOUNT_FOR_OPERATOR", Meaning::Refused(RefusalReason::Other)),
    ("OPERATOR_NOT_IN_SERVICE", Meaning::Refused(RefusalReason::Busy)),
    ("OPERATOR_UNAVAILABLE_OR_CURRENTLY_INACTIVE", Meaning::Refused(RefusalReason::Busy)),
    ("INVALID_TOKEN", Meaning::Refused(RefusalReason::Busy)),
    ("TOKEN_EXPIRED", Meaning::Refused(RefusalReason::Busy)),
    ("INSUFFICIENT_BALANCE", Meaning::Refused(RefusalReason::FloatExhausted)),
    ("MAX_DAILY_TRANSACTION_AMOUNT_REACHED", Meaning::Refused(RefusalReason::FloatExhausted)),
    ("MAX_DAILY_TRANSACTION_COUNT_REACHED", Meaning::Refused(RefusalReason::FloatExhausted)),
    ("ACCOUNT_NOT_FOUND", Meaning::Refused(RefusalReason::Misconfigured)),
    ("INACTIVE_ACCOUNT", Meaning::Refused(RefusalReason::Misconfigured)),
    ("COUNTRY_NOT_SUPPORTED", Meaning::Refused(RefusalReason::Misconfigured)),
    ("INVALID_SENDER_PHONE", Meaning::Refused(RefusalReason::Misconfigured)),
    ("DUPLICATE_CUSTOM_IDENTIFIER", Meaning::RepeatedReference),
    ("CUSTOM_IDENTIFIER_ALREADY_USED", Meaning::RepeatedReference),
    ("CUSTOM_IDENTIFIER_ALREADY_EXISTS", Meaning::RepeatedReference),
    ("DUPLICATE_TRANSACTION", Meaning::RepeatedReference),
    ("DUPLICATE_REQUEST", Meaning::RepeatedReference),
];

impl FaultCodes {
    pub(crate) fn new(own: &[FaultCode]) -> Result<Self, SettingsError> {
        let built_in = BUILT_IN.into_iter().map(|(code, meaning)| Ok((code.to_owned(), meaning)));
        own.iter().map(line).chain(built_in).collect::<Result<_, _>>().map(Self)
    }

    /// The meaning of a code. A missing or unknown code is unlisted.
    pub(crate) fn meaning(&self, code: Option<&str>) -> Meaning {
        let line = self.0.iter().find(|(known, _meaning)| Some(known.as_str()) == code);
        line.map_or(Meaning::Unlisted, |(_code, meaning)| *meaning)
    }
}

fn line(own: &FaultCode) -> Result<(String, Meaning), SettingsError> {
    if own.code.trim().is_empty() {
        return Err(SettingsError::Empty("fault_codes.code"));
    }
    let meaning = match own.means.as_str() {
        "repeated_reference" => Meaning::RepeatedReference,
        "unlisted" => Meaning::Unlisted,
        name => RefusalReason::parse(name)
            .filter(|reason| *reason != RefusalReason::NeverSent)
            .map(Meaning::Refused)
            .ok_or_else(|| SettingsError::UnknownMeaning(own.means.clone()))?,
    };
    Ok((own.code.trim().to_owned(), meaning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(code: &str, means: &str) -> Result<FaultCodes, SettingsError> {
        FaultCodes::new(&[FaultCode { code: code.to_owned(), means: means.to_owned() }])
    }

    #[test]
    fn a_deployment_is_asked_before_the_built_in_table() {
        let busy = Meaning::Refused(RefusalReason::Busy);
        assert_eq!(own("TOO_MANY", "busy").unwrap().meaning(Some("TOO_MANY")), busy);
        let doubtful = own("INVALID_TOKEN", "unlisted").unwrap();
        assert_eq!(doubtful.meaning(Some("INVALID_TOKEN")), Meaning::Unlisted);
        assert_eq!(doubtful.meaning(Some("TOKEN_EXPIRED")), busy);
    }

    #[test]
    fn a_code_is_that_code_and_no_other() {
        let table = FaultCodes::new(&[]).unwrap();
        for code in ["", "invalid_token", "INVALID_TOKEN ", "TOPUP_TRANSACTION_FAILED", "INTERNAL_ERROR"] {
            assert_eq!(table.meaning(Some(code)), Meaning::Unlisted, "{code:?}");
        }
        assert_eq!(table.meaning(None), Meaning::Unlisted);
    }

    #[test]
    fn a_line_that_means_nothing_is_refused() {
        assert!(matches!(own(" ", "busy"), Err(SettingsError::Empty(_))));
        for means in ["", "Busy", "never_sent"] {
            assert!(matches!(own("X", means), Err(SettingsError::UnknownMeaning(_))), "{means:?}");
        }
    }
}
