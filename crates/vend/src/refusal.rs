//! A definite refusal: the provider did not vend.

/// A definite refusal, with the provider's wording if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub reason: RefusalReason,
    /// The provider's wording of the reason, without control characters.
    pub wording: Option<String>,
}

impl Refusal {
    /// A refusal without wording.
    pub const fn because(reason: RefusalReason) -> Self {
        Self { reason, wording: None }
    }
}

/// The closed list of reasons. Each adapter maps its vendor's faults to it in one table. It is closed, so that a
/// program that maps it to its own error codes notices a new reason when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalReason {
    /// The provider knows no such meter, phone or customer.
    UnknownSubscriber,
    /// The provider knows the meter and has disconnected it.
    Disconnected,
    /// The identifier's check digit is wrong.
    WrongCheckDigit,
    /// The provider blocked the meter or the customer, or a debt or service charge stops the sale.
    Blocked,
    /// No token can be made for the data or the type of the meter.
    Unsupported,
    /// The amount is below this customer's minimum.
    BelowMinimum,
    /// The amount is above this customer's maximum.
    AboveMaximum,
    /// Our own float with the provider is used up.
    FloatExhausted,
    /// A business rule of the provider treats it as a duplicate sale.
    DuplicateSale,
    /// The provider cannot vend at the moment.
    Busy,
    /// No byte of the request was sent.
    NeverSent,
    /// The provider does not accept our credentials, certificate, schema or authorisation.
    Misconfigured,
    /// The fault is a definite refusal, but no other reason describes it.
    Other,
    /// As [`Other`](Self::Other), and the provider hints that the refusal is transient.
    OtherTransient,
}

/// Lower-case phrases by which a vendor says that a refusal is transient.
const TRANSIENCE_HINTS: [&str; 6] =
    ["temporar", "at the moment", "at this moment", "try later", "retry later", "later again"];

impl RefusalReason {
    /// Every reason, for storage and for tables.
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

    /// The reason with this stable name. `None` if there is no such reason.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == name)
    }

    /// Whether the same purchase may succeed a little later. Then a managed account may make another attempt.
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

    /// The reason, refined by a text or a code of the vendor. A generic refusal is retryable if the provider hinted
    /// that it is transient.
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
