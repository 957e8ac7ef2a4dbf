//! Refusal reasons and doubts in plain words.

use vend::{Doubt, RefusalReason};

/// The words for a doubt, by its stable name. An unknown name is returned unchanged.
pub(super) fn doubt(name: &str) -> &str {
    match Doubt::ALL.into_iter().find(|doubt| doubt.as_str() == name) {
        Some(doubt) => of_doubt(doubt),
        None => name,
    }
}

/// The words for a reason, by its stable name. An unknown name is returned unchanged.
pub(super) fn reason(name: &str) -> &str {
    match RefusalReason::parse(name) {
        Some(reason) => of_reason(reason),
        None => name,
    }
}

const fn of_doubt(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::TimedOut => "no answer came in time",
        Doubt::ConnectionLost => "the connection broke before an answer came",
        Doubt::Unreadable => "the answer could not be read",
        Doubt::Mismatched => "the answer was not about this order",
        Doubt::UnlistedFault => "the answer was a fault that proves nothing",
        Doubt::RepeatedReference => "the provider had seen the reference before",
        Doubt::StillOpen => "the provider knows the order and has not finished it",
        Doubt::NeverReported => "the process that sent it reported no outcome",
    }
}

pub(super) const fn of_reason(reason: RefusalReason) -> &'static str {
    match reason {
        RefusalReason::UnknownSubscriber => "no such meter, phone or customer",
        RefusalReason::Disconnected => "the meter is disconnected",
        RefusalReason::WrongCheckDigit => "the number's check digit is wrong",
        RefusalReason::Blocked => "the meter or the customer is blocked",
        RefusalReason::Unsupported => "the meter cannot get a token",
        RefusalReason::BelowMinimum => "below what this customer may buy",
        RefusalReason::AboveMaximum => "above what this customer may buy",
        RefusalReason::FloatExhausted => "our own credit with the provider is used up",
        RefusalReason::DuplicateSale => "the provider takes it for a duplicate of another sale",
        RefusalReason::Busy => "the provider was busy",
        RefusalReason::NeverSent => "the order was not sent",
        RefusalReason::Misconfigured => "the provider does not accept our access or our message",
        RefusalReason::Other => "a rule of the provider",
        RefusalReason::OtherTransient => "a temporary rule of the provider",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_returned_unchanged() {
        assert_eq!(doubt("timed_out"), "no answer came in time");
        assert_eq!(doubt("struck_by_lightning"), "struck_by_lightning");
        assert_eq!(reason("blocked"), "the meter or the customer is blocked");
        assert_eq!(reason("out_of_ink"), "out_of_ink");
    }
}
