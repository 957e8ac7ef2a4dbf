//! The provider said no, and nothing happened.

/// A definite no, with the provider's wording where it gave one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why, in our words.
    pub reason: RefusalReason,
    /// Why, in the provider's words, free of control characters.
    pub wording: Option<String>,
}

impl Refusal {
    /// A refusal without wording.
    pub const fn because(reason: RefusalReason) -> Self {
        Self { reason, wording: None }
    }
}

/// The closed list of reasons. Adapters map their vendor's faults to it in one table; the surfaces map
/// it to error codes in one match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalReason {
    /// No such meter, phone or customer.
    UnknownSubscriber,
    /// The provider knows the meter and has disconnected it.
    Disconnected,
    /// The identifier's check digit is wrong.
    WrongCheckDigit,
    /// The provider blocked the meter or the customer, or a debt or service charge stops the sale.
    Blocked,
    /// The meter's data or type cannot get a token.
    Unsupported,
    /// Below what this customer may buy.
    BelowMinimum,
    /// Above what this customer may buy.
    AboveMaximum,
    /// Our own float with the provider is used up.
    FloatExhausted,
    /// A business rule calls it a duplicate sale.
    DuplicateSale,
    /// Not now.
    Busy,
    /// No byte of the request ever left us.
    NeverSent,
    /// The provider does not accept our credentials, certificate, schema or authorisation.
    Misconfigured,
    /// Listed as definite, with no reason of its own.
    Other,
    /// The same, and the provider hints that it is transient.
    OtherTransient,
}

/// What a vendor writes, in lower case, where its refusal is not for long.
const TRANSIENCE_HINTS: [&str; 6] =
    ["temporar", "at the moment", "at this moment", "try later", "retry later", "later again"];

impl RefusalReason {
    /// Every reason, for those who store and those who tabulate.
    pub const ALL: [Self; 14] = [
        Self::UnknownSubscriber,
        Self::Disconnected,
        Self::WrongCheckDigit,
        Self::Blocked,
        Self::Unsupported,
        Self::BelowMinimum,
        Self::AboveMaximum,
        Self::FloatExhausted,
        Self::DuplicateSale,
        Self::Busy,
        Self::NeverSent,
        Self::Misconfigured,
        Self::Other,
        Self::OtherTransient,
    ];

    /// A stable name for records and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownSubscriber => "unknown_subscriber",
            Self::Disconnected => "disconnected",
            Self::WrongCheckDigit => "wrong_check_digit",
            Self::Blocked => "blocked",
            Self::Unsupported => "unsupported",
            Self::BelowMinimum => "below_minimum",
            Self::AboveMaximum => "above_maximum",
            Self::FloatExhausted => "float_exhausted",
            Self::DuplicateSale => "duplicate_sale",
            Self::Busy => "busy",
            Self::NeverSent => "never_sent",
            Self::Misconfigured => "misconfigured",
            Self::Other => "other",
            Self::OtherTransient => "other_transient",
        }
    }

    /// The reason of this stable name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == name)
    }

    /// Whether the same purchase may well succeed a little later, so that a managed account is worth
    /// another attempt.
    pub const fn is_transient(self) -> bool {
        match self {
            Self::Busy | Self::NeverSent | Self::OtherTransient => true,
            Self::UnknownSubscriber
            | Self::Disconnected
            | Self::WrongCheckDigit
            | Self::Blocked
            | Self::Unsupported
            | Self::BelowMinimum
            | Self::AboveMaximum
            | Self::FloatExhausted
            | Self::DuplicateSale
            | Self::Misconfigured
            | Self::Other => false,
        }
    }

    /// The reason, refined by what a vendor says about it in a text or a code (specification, section 7.3: a generic
    /// refusal is retryable when the provider hinted that it was transient).
    #[must_use]
    pub fn refined_by(self, said: &str) -> Self {
        let said = said.to_lowercase().replace('_', " ");
        if self == Self::Other && TRANSIENCE_HINTS.iter().any(|hint| said.contains(hint)) {
            Self::OtherTransient
        } else if self == Self::UnknownSubscriber && said.contains("disconnect") {
            Self::Disconnected
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_of_transience_refines_a_refusal_that_has_no_reason_of_its_own() {
        for (said, refined) in [
            ("Vending is TEMPORARILY suspended", RefusalReason::OtherTransient),
            ("TRANSACTION_CANNOT_BE_PROCESSED_AT_THE_MOMENT", RefusalReason::OtherTransient),
            ("Please try later", RefusalReason::OtherTransient),
            ("Closed for good", RefusalReason::Other),
            ("Meter disconnected", RefusalReason::Other),
            ("", RefusalReason::Other),
        ] {
            assert_eq!(RefusalReason::Other.refined_by(said), refined, "{said}");
            assert_eq!(RefusalReason::Blocked.refined_by(said), RefusalReason::Blocked, "{said}");
        }
        assert_eq!(
            RefusalReason::UnknownSubscriber.refined_by("Meter DISCONNECTED"),
            RefusalReason::Disconnected
        );
    }

    #[test]
    fn every_reason_has_a_name_of_its_own() {
        for reason in RefusalReason::ALL {
            assert_eq!(RefusalReason::parse(reason.as_str()), Some(reason));
        }
    }
}
