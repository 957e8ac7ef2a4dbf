//! Why a line of a batch was not bought: what is stored of a rejection, and what a surface is told of it later.

use batch_store::{Line, StoredRejection};
use money::Money;
use purchase::{Failure, FormatError, PriceError};
use vend::{Refusal, RefusalReason, Unanswered};

use crate::Rejection;

/// Why a line was not sold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineFailure {
    /// No purchase was made.
    Rejected(Rejection),
    /// Its purchase has failed.
    Purchase(Failure),
}

impl LineFailure {
    /// Why this line was not sold. `None` if it was, or if it has not ended.
    pub fn of(line: &Line) -> Option<Self> {
        let of_purchase = line.purchase.as_ref().and_then(|purchase| purchase.failure.clone());
        of_purchase.map(Self::Purchase).or_else(|| {
            let stored = line.rejection.as_ref()?;
            Some(Self::Rejected(restored(stored, line)))
        })
    }
}

/// What is stored of a rejection. The provider's own words are not: they may name a person.
pub(crate) fn stored(rejection: &Rejection) -> StoredRejection {
    let (reason, amount) = match rejection {
        Rejection::Check { unanswered: Unanswered::Refused(refusal), .. } => {
            (Some(refusal.reason.as_str()), None)
        }
        Rejection::Limit { reason, limit } => (Some(reason.as_str()), Some(limit)),
        Rejection::Insufficient { gap } => (None, Some(gap)),
        Rejection::Price(PriceError::BelowMinimum(limit)) => (Some("below_minimum"), Some(limit)),
        Rejection::Price(PriceError::AboveMaximum(limit)) => (Some("above_maximum"), Some(limit)),
        Rejection::Price(PriceError::BelowCharges { charge, .. }) => (None, Some(charge)),
        Rejection::UnknownAccount
        | Rejection::AccountNotDebitable
        | Rejection::Suspended
        | Rejection::Revoked
        | Rejection::OtherCurrency { .. }
        | Rejection::UnknownProduct
        | Rejection::UnknownProvider
        | Rejection::OfferRemoved { .. }
        | Rejection::Paused { .. }
        | Rejection::NoDefaultProvider
        | Rejection::SubscriberFormat(_)
        | Rejection::SubscriberNotAllowed
        | Rejection::Price(PriceError::Money(_))
        | Rejection::Check { unanswered: Unanswered::Unreachable | Unanswered::NoAnswer(_), .. }
        | Rejection::Pending(_)
        | Rejection::KeyClosed
        | Rejection::KeyReused
        | Rejection::ReferenceRests { .. }
        | Rejection::CallerGone
        | Rejection::TooLate
        | Rejection::Overloaded
        | Rejection::Internal => (None, None),
    };
    StoredRejection {
        kind: kind_of(rejection).to_owned(),
        reason: reason.map(str::to_owned),
        amount: amount.map(|amount| amount.minor()),
    }
}

/// The names in the database.
const fn kind_of(rejection: &Rejection) -> &'static str {
    match rejection {
        Rejection::UnknownAccount => "UNKNOWN_ACCOUNT",
        Rejection::AccountNotDebitable => "ACCOUNT_NOT_DEBITABLE",
        Rejection::OtherCurrency { .. } => "OTHER_CURRENCY",
        Rejection::UnknownProduct => "UNKNOWN_PRODUCT",
        Rejection::UnknownProvider => "UNKNOWN_PROVIDER",
        Rejection::OfferRemoved { .. } => "OFFER_REMOVED",
        Rejection::SubscriberFormat(_) => "SUBSCRIBER_FORMAT",
        Rejection::SubscriberNotAllowed => "SUBSCRIBER_NOT_ALLOWED",
        Rejection::Limit { .. }
        | Rejection::Price(PriceError::BelowMinimum(_) | PriceError::AboveMaximum(_)) => "LIMIT",
        Rejection::Price(PriceError::BelowCharges { .. }) => "BELOW_CHARGES",
        Rejection::Check { unanswered: Unanswered::Refused(_), .. } => "REFUSED",
        Rejection::Insufficient { .. } => "INSUFFICIENT",
        Rejection::Pending(_) | Rejection::KeyClosed | Rejection::ReferenceRests { .. } => "PENDING",
        Rejection::Check { .. } | Rejection::TooLate | Rejection::Paused { .. } => "UNREACHABLE",
        Rejection::Suspended
        | Rejection::Revoked
        | Rejection::NoDefaultProvider
        | Rejection::Price(PriceError::Money(_))
        | Rejection::KeyReused
        | Rejection::CallerGone
        | Rejection::Overloaded
        | Rejection::Internal => "INTERNAL",
    }
}

/// The rejection as far as it was stored. What a later release has stored, and this one does not know, is a fault of this service.
fn restored(stored: &StoredRejection, line: &Line) -> Rejection {
    let currency = line.amount.currency();
    let amount = Money::from_minor(stored.amount.unwrap_or_default(), currency);
    let reason = stored.reason.as_deref().and_then(RefusalReason::parse).unwrap_or(RefusalReason::Other);
    let check = |unanswered| Rejection::Check { provider_code: line.provider_code.clone(), unanswered };
    match stored.kind.as_str() {
        "UNKNOWN_ACCOUNT" => Rejection::UnknownAccount,
        "ACCOUNT_NOT_DEBITABLE" => Rejection::AccountNotDebitable,
        "OTHER_CURRENCY" => Rejection::OtherCurrency { account: currency },
        "UNKNOWN_PRODUCT" => Rejection::UnknownProduct,
        "UNKNOWN_PROVIDER" => Rejection::UnknownProvider,
        "OFFER_REMOVED" => Rejection::OfferRemoved { provider_code: line.provider_code.clone() },
        "SUBSCRIBER_FORMAT" => Rejection::SubscriberFormat(FormatError::OtherForm),
        "SUBSCRIBER_NOT_ALLOWED" => Rejection::SubscriberNotAllowed,
        "LIMIT" => Rejection::Limit { reason, limit: amount },
        "BELOW_CHARGES" => Rejection::Price(PriceError::BelowCharges { entry: line.amount, charge: amount }),
        "REFUSED" => check(Unanswered::Refused(Refusal::because(reason))),
        "INSUFFICIENT" => Rejection::Insufficient { gap: amount },
        "PENDING" => Rejection::KeyClosed,
        "UNREACHABLE" => check(Unanswered::Unreachable),
        _internal => Rejection::Internal,
    }
}

#[cfg(test)]
mod tests {
    use batch_store::LineState;
    use money::Currency;
    use vend::Product;

    use super::*;

    fn line() -> Line {
        let pula = Currency::in_hundredths("BWP").unwrap();
        Line {
            number: 1,
            product: Product::Electricity,
            provider_code: "BPC".to_owned(),
            subscriber: "04257670465".to_owned(),
            external_reference: "salaries/1".to_owned(),
            amount: Money::from_minor(10_000, pula),
            state: LineState::Failed,
            ended_at: None,
            purchase: None,
            rejection: None,
        }
    }

    #[test]
    fn a_rejection_comes_back_from_its_row_as_it_was() {
        let limit = line().amount;
        let refused = |reason| Rejection::Check {
            provider_code: "BPC".to_owned(),
            unanswered: Unanswered::Refused(Refusal::because(reason)),
        };
        let rejections = [
            Rejection::UnknownAccount,
            Rejection::AccountNotDebitable,
            Rejection::UnknownProduct,
            Rejection::UnknownProvider,
            Rejection::OfferRemoved { provider_code: "BPC".to_owned() },
            Rejection::SubscriberNotAllowed,
            Rejection::Limit { reason: RefusalReason::AboveMaximum, limit },
            Rejection::Price(PriceError::BelowCharges { entry: limit, charge: limit }),
            Rejection::Insufficient { gap: limit },
        ];
        for rejection in rejections.into_iter().chain(RefusalReason::ALL.map(refused)) {
            let line = Line { rejection: Some(stored(&rejection)), ..line() };
            assert_eq!(LineFailure::of(&line), Some(LineFailure::Rejected(rejection)));
        }
        assert_eq!(LineFailure::of(&line()), None);
    }
}
