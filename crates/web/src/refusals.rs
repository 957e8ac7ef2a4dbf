//! The one match from what a provider refused to the code that an integrator reads.

use error_codes::ErrorCode;
use messages::{Detail, Sentence};
use purchase::Failure;
use vend::{Doubt, Product, Refusal, RefusalReason, Unanswered};

use crate::ApiError;

/// On whose behalf a provider was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// For a quote: no money is meant to move.
    ForAQuote,
    /// Before a purchase: what cannot be checked is not bought.
    BeforeAPurchase,
}

/// A refusal, to the request that met it.
pub fn refused(refusal: &Refusal) -> ApiError {
    ApiError::new(code_of(refusal.reason))
        .hinted_transient(refusal.reason.is_transient())
        .quoting(quotable(refusal))
}

/// A purchase that failed, to the confirm that made it.
pub fn failed(failure: &Failure) -> ApiError {
    let error = match failure {
        Failure::Refused(refusal) => refused(refusal),
        Failure::NoRecord => ApiError::new(Detail::NeverReached),
        Failure::Operator => ApiError::new(Detail::EarlierAttemptFailed),
    };
    error.buying_again(failure.may_be_bought_again())
}

/// A purchase that failed, to those who ask later: the same type, code and wording.
pub fn failed_before(failure: &Failure) -> ApiError {
    failed(failure).told_later()
}

/// A provider's question that moves no money and has no good answer.
pub fn unanswered(unanswered: &Unanswered, asked: Asked) -> ApiError {
    match (unanswered, asked) {
        (Unanswered::Refused(refusal), Asked::ForAQuote | Asked::BeforeAPurchase) => refused(refusal),
        (Unanswered::Unreachable, Asked::ForAQuote | Asked::BeforeAPurchase)
        | (Unanswered::NoAnswer(_), Asked::BeforeAPurchase) => ApiError::new(ErrorCode::ProviderUnavailable),
        (Unanswered::NoAnswer(doubt), Asked::ForAQuote) => ApiError::new(sentence_about(*doubt)),
    }
}

/// An identifier that no subscriber of the product can have.
pub fn impossible_subscriber(product: Product) -> ApiError {
    match product {
        Product::Electricity | Product::Water => ApiError::new(ErrorCode::InvalidMeterNumber),
        Product::Airtime => ApiError::new(Detail::BadIdentifier).about("subscriber_identifier"),
    }
}

const fn code_of(reason: RefusalReason) -> ErrorCode {
    match reason {
        RefusalReason::UnknownSubscriber => ErrorCode::MeterNotFound,
        RefusalReason::WrongCheckDigit => ErrorCode::InvalidMeterNumber,
        RefusalReason::Blocked => ErrorCode::MeterBlocked,
        RefusalReason::Unsupported => ErrorCode::MeterUnsupported,
        RefusalReason::BelowMinimum => ErrorCode::AmountBelowMinimum,
        RefusalReason::AboveMaximum => ErrorCode::AmountAboveMaximum,
        RefusalReason::FloatExhausted => ErrorCode::MerchantCreditExhausted,
        RefusalReason::DuplicateSale => ErrorCode::DuplicateRequest,
        RefusalReason::Busy => ErrorCode::ProviderBusy,
        RefusalReason::NeverSent => ErrorCode::ProviderUnavailable,
        RefusalReason::Misconfigured => ErrorCode::UpstreamError,
        RefusalReason::Other => ErrorCode::ProviderError,
    }
}

/// What a provider says about our own standing with it is for the operator, not for integrators.
fn quotable(refusal: &Refusal) -> Option<String> {
    match refusal.reason {
        RefusalReason::FloatExhausted | RefusalReason::Misconfigured | RefusalReason::NeverSent => None,
        RefusalReason::UnknownSubscriber
        | RefusalReason::WrongCheckDigit
        | RefusalReason::Blocked
        | RefusalReason::Unsupported
        | RefusalReason::BelowMinimum
        | RefusalReason::AboveMaximum
        | RefusalReason::DuplicateSale
        | RefusalReason::Busy
        | RefusalReason::Other => refusal.wording.clone(),
    }
}

fn sentence_about(doubt: Doubt) -> Sentence {
    match doubt {
        Doubt::TimedOut => Detail::OnQuote.into(),
        Doubt::ConnectionLost => ErrorCode::ProviderUnavailable.into(),
        Doubt::Unreadable
        | Doubt::Mismatched
        | Doubt::UnlistedFault
        | Doubt::RepeatedReference
        | Doubt::StillOpen
        | Doubt::NeverReported => ErrorCode::UpstreamError.into(),
    }
}

#[cfg(test)]
mod tests {
    use messages::{Language, Messages};

    use super::*;

    fn because(reason: RefusalReason) -> Refusal {
        Refusal { reason, wording: Some("Said by the supplier".to_owned()) }
    }

    #[test]
    fn every_refusal_has_its_code_and_only_what_is_passing_is_retryable() {
        let told = RefusalReason::ALL.map(|reason| {
            let error = refused(&because(reason));
            (error.code().as_str(), error.param().unwrap_or("-").to_owned(), error.is_retryable())
        });
        let expected = [
            ("meter_not_found", "-", false),
            ("invalid_meter_number", "subscriber_identifier", false),
            ("meter_blocked", "-", false),
            ("meter_unsupported", "-", false),
            ("amount_below_minimum", "amount", false),
            ("amount_above_maximum", "amount", false),
            ("merchant_credit_exhausted", "-", false),
            ("duplicate_request", "-", false),
            ("provider_busy", "-", true),
            ("provider_unavailable", "-", true),
            ("upstream_error", "-", false),
            ("provider_error", "-", false),
        ]
        .map(|(code, param, retryable)| (code, param.to_owned(), retryable));
        assert_eq!(told, expected);
    }

    #[test]
    fn the_wording_is_passed_on_unless_it_is_about_us() {
        let messages = Messages::new();
        let quoted = RefusalReason::ALL.map(|reason| {
            let message = refused(&because(reason)).message(&messages, Language::English);
            message.ends_with("The provider says: Said by the supplier")
        });
        let silent = [RefusalReason::FloatExhausted, RefusalReason::NeverSent, RefusalReason::Misconfigured];
        assert_eq!(quoted, RefusalReason::ALL.map(|reason| !silent.contains(&reason)));
    }

    #[test]
    fn a_failure_told_later_is_final_and_of_the_400_class() {
        let failures = RefusalReason::ALL.map(|reason| Failure::Refused(because(reason)));
        for failure in failures.iter().chain([&Failure::NoRecord, &Failure::Operator]) {
            let error = failed_before(failure);
            assert!((400..500).contains(&error.status()), "{failure:?}");
            assert!(!error.is_retryable(), "{failure:?}");
        }
    }

    #[test]
    fn one_failure_has_one_code_and_one_wording_whenever_it_is_told() {
        let messages = Messages::new();
        let failures = RefusalReason::ALL.map(|reason| Failure::Refused(because(reason)));
        for failure in failures.iter().chain([&Failure::NoRecord, &Failure::Operator]) {
            let told = |error: ApiError| {
                (error.code(), error.message(&messages, Language::English), error.buy_again())
            };
            assert_eq!(told(failed(failure)), told(failed_before(failure)), "{failure:?}");
        }
    }

    #[test]
    fn a_purchase_that_never_reached_its_provider_is_not_called_refused_by_it() {
        for failure in [Failure::NoRecord, Failure::Refused(Refusal::because(RefusalReason::NeverSent))] {
            let error = failed_before(&failure);
            assert_eq!((error.code(), error.status()), (ErrorCode::ProviderUnavailable, 422));
            assert_eq!(error.buy_again(), Some(true));
        }
    }

    #[test]
    fn a_check_that_cannot_be_made_reads_differently_before_a_quote_and_before_money() {
        let timed_out = Unanswered::NoAnswer(Doubt::TimedOut);
        assert_eq!(unanswered(&timed_out, Asked::ForAQuote).code(), ErrorCode::ProviderTimeout);
        assert_eq!(unanswered(&timed_out, Asked::BeforeAPurchase).code(), ErrorCode::ProviderUnavailable);
        let garbage = Unanswered::NoAnswer(Doubt::Unreadable);
        assert_eq!(unanswered(&garbage, Asked::ForAQuote).code(), ErrorCode::UpstreamError);
        let unreachable = Unanswered::Unreachable;
        assert_eq!(unanswered(&unreachable, Asked::ForAQuote).code(), ErrorCode::ProviderUnavailable);
    }
}
