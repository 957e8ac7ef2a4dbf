//! Reasons and doubts as one would say them at the phone.

use vend::{Doubt, RefusalReason};

/// A doubt by its stable name; the name itself, where this program does not know it.
pub(super) fn doubt(name: &str) -> &str {
    match Doubt::ALL.into_iter().find(|doubt| doubt.as_str() == name) {
        Some(doubt) => of_doubt(doubt),
        None => name,
    }
}

/// A reason by its stable name.
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
        Doubt::Mismatched => "the answer was about something else than was ordered",
        Doubt::UnlistedFault => "the answer was a fault that proves nothing",
        Doubt::RepeatedReference => "the provider had seen the reference before",
        Doubt::StillOpen => "the provider knows of it and has not finished",
        Doubt::NeverReported => "whoever was at it had nothing to report",
    }
}

const fn of_reason(reason: RefusalReason) -> &'static str {
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
        RefusalReason::NeverSent => "the order never left us",
        RefusalReason::Misconfigured => "the provider does not accept our access or our message",
        RefusalReason::Other => "a rule of the provider's",
        RefusalReason::OtherTransient => "a rule of the provider's, for the time being",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_program_does_not_know_is_told_by_its_name() {
        assert_eq!(doubt("timed_out"), "no answer came in time");
        assert_eq!(doubt("struck_by_lightning"), "struck_by_lightning");
        assert_eq!(reason("blocked"), "the meter or the customer is blocked");
        assert_eq!(reason("out_of_ink"), "out_of_ink");
    }
}
