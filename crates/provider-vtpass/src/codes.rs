//! The vendor's response codes.

use vend::RefusalReason;

/// What a code says about its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The request was processed. The status of the transaction has the result.
    Processed,
    /// The vendor is still processing the request, or an earlier one.
    UnderWay,
    /// The vendor did not carry the request out.
    Refused(RefusalReason),
    /// The vendor already has this request id.
    RepeatedRequestId,
    /// The vendor has no transaction with this request id.
    UnknownRequestId,
    /// The code proves nothing.
    Unlisted,
}

/// The codes of the vendor's page of response codes that say what became of a request. These are not included, because they
/// do not: `001` (a query), `040` (money was paid back, but no source says that no token was shown), `044` (a person resolved
/// it), `083` (a system error).
const CODES: [(&str, Meaning); 30] = [
    ("000", Meaning::Processed),
    ("020", Meaning::Processed),
    ("089", Meaning::UnderWay),
    ("099", Meaning::UnderWay),
    ("014", Meaning::RepeatedRequestId),
    ("015", Meaning::UnknownRequestId),
    ("010", Meaning::Refused(RefusalReason::Misconfigured)),
    ("011", Meaning::Refused(RefusalReason::Misconfigured)),
    ("012", Meaning::Refused(RefusalReason::Misconfigured)),
    ("013", Meaning::Refused(RefusalReason::BelowMinimum)),
    ("016", Meaning::Refused(RefusalReason::Other)),
    ("017", Meaning::Refused(RefusalReason::AboveMaximum)),
    ("018", Meaning::Refused(RefusalReason::FloatExhausted)),
    ("019", Meaning::Refused(RefusalReason::DuplicateSale)),
    ("021", Meaning::Refused(RefusalReason::Misconfigured)),
    ("022", Meaning::Refused(RefusalReason::Misconfigured)),
    ("023", Meaning::Refused(RefusalReason::Misconfigured)),
    ("024", Meaning::Refused(RefusalReason::Misconfigured)),
    ("025", Meaning::Refused(RefusalReason::Misconfigured)),
    ("026", Meaning::Refused(RefusalReason::Misconfigured)),
    ("027", Meaning::Refused(RefusalReason::Misconfigured)),
    ("028", Meaning::Refused(RefusalReason::Misconfigured)),
    ("030", Meaning::Refused(RefusalReason::Busy)),
    ("031", Meaning::Refused(RefusalReason::BelowMinimum)),
    ("032", Meaning::Refused(RefusalReason::AboveMaximum)),
    ("034", Meaning::Refused(RefusalReason::Busy)),
    ("035", Meaning::Refused(RefusalReason::Busy)),
    ("085", Meaning::Refused(RefusalReason::Misconfigured)),
    ("087", Meaning::Refused(RefusalReason::Misconfigured)),
    ("091", Meaning::Refused(RefusalReason::Other)),
];

/// The meaning of a code. A code that is not in the table is unlisted.
pub(crate) fn meaning(code: &str) -> Meaning {
    CODES
        .iter()
        .find(|(known, _meaning)| *known == code)
        .map_or(Meaning::Unlisted, |(_code, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_that_code_and_no_other() {
        assert_eq!(meaning("018"), Meaning::Refused(RefusalReason::FloatExhausted));
        for code in ["", "18", "0", "018 ", "00", "777", "001", "040", "044", "083"] {
            assert_eq!(meaning(code), Meaning::Unlisted, "{code:?}");
        }
    }
}
