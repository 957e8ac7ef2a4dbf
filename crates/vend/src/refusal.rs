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
}

impl RefusalReason {
    /// Every reason, for those who store and those who tabulate.
    pub const ALL: [Self; 12] = [
        Self::UnknownSubscriber,
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
    ];

    /// A stable name for records and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownSubscriber => "unknown_subscriber",
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
            Self::Busy | Self::NeverSent => true,
            Self::UnknownSubscriber
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_name_of_its_own() {
        for reason in RefusalReason::ALL {
            assert_eq!(RefusalReason::parse(reason.as_str()), Some(reason));
        }
    }
}
