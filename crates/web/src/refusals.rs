//! The one place that translates a provider's refusal to the code that an integrator reads.

use error_codes::ErrorCode;
use messages::{Detail, Sentence};
use purchase::{Failure, Record};
use vend::{Doubt, Product, Refusal, RefusalReason, Unanswered};

use crate::ApiError;

/// The purpose for which a provider was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// For a quote: no money moves.
    ForAQuote,
    /// Before a purchase: if the check cannot be made, nothing is bought.
    BeforeAPurchase,
}

/// What was requested, and from which provider.
#[derive(Clone, Copy, Debug)]
pub struct Requested<'a> {
    /// The product. It decides whether the subscriber has a meter number or a phone number.
    pub product: Product,
    /// The provider's name on the wire.
    pub provider_code: &'a str,
}

impl<'a> From<&'a Record> for Requested<'a> {
    fn from(record: &'a Record) -> Self {
        Self { product: record.product, provider_code: &record.provider_code }
    }
}

/// The error for a refusal, in the answer to the request that caused it. Without the provider's wording, the message
/// names the provider that refused.
pub fn refused(refusal: &Refusal, of: Requested<'_>) -> ApiError {
    let error = ApiError::new(sentence_of(refusal.reason, of.product))
        .hinted_transient(refusal.reason.is_transient());
    match &refusal.wording {
        _any if is_about_us(refusal.reason) => error,
        Some(wording) => error.quoting(wording.clone()),
        None => error.refused_by(of.provider_code),
    }
}

/// The error for a failed purchase, in the answer to the confirm that made it.
pub fn failed(failure: &Failure, of: Requested<'_>) -> ApiError {
    let error = match failure {
        Failure::Refused(refusal) => refused(refusal, of),
        Failure::NoRecord => ApiError::new(Detail::NeverReached),
        Failure::Operator => ApiError::new(Detail::EarlierAttemptFailed),
    };
    error.buying_again(failure.may_be_bought_again())
}

/// The error for a failed purchase, in the answer to a later request: the same type, code and wording.
pub fn failed_before(failure: &Failure, of: Requested<'_>) -> ApiError {
    failed(failure, of).answered_later()
}

/// The error for a call to a provider that moves no money and was not answered well.
pub fn unanswered(unanswered: &Unanswered, asked: Asked, of: Requested<'_>) -> ApiError {
    match (unanswered, asked) {
        (Unanswered::Refused(refusal), Asked::ForAQuote | Asked::BeforeAPurchase) => refused(refusal, of),
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

/// The code, and the message that names a meter or a phone number.
fn sentence_of(reason: RefusalReason, product: Product) -> Sentence {
    let of_a_phone = match reason {
        RefusalReason::UnknownSubscriber => Detail::PhoneNotFound,
        RefusalReason::WrongCheckDigit => Detail::PhoneInvalid,
        RefusalReason::Blocked => Detail::PhoneBlocked,
        RefusalReason::Unsupported => Detail::PhoneUnsupported,
        RefusalReason::Disconnected => return Detail::Disconnected.into(),
        RefusalReason::BelowMinimum
        | RefusalReason::AboveMaximum
        | RefusalReason::FloatExhausted
        | RefusalReason::DuplicateSale
        | RefusalReason::Busy
        | RefusalReason::NeverSent
        | RefusalReason::Misconfigured
        | RefusalReason::Other
        | RefusalReason::OtherTransient => return code_of(reason).into(),
    };
    match product {
        Product::Electricity | Product::Water => code_of(reason).into(),
        Product::Airtime => of_a_phone.into(),
    }
}

const fn code_of(reason: RefusalReason) -> ErrorCode {
    match reason {
        RefusalReason::UnknownSubscriber | RefusalReason::Disconnected => ErrorCode::MeterNotFound,
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
        RefusalReason::Other | RefusalReason::OtherTransient => ErrorCode::ProviderError,
    }
}

/// Whether the provider's words are withheld from integrators. What it says about our account with it is for the
/// operator only. A request that never left us was not refused by a provider.
const fn is_about_us(reason: RefusalReason) -> bool {
    match reason {
        RefusalReason::FloatExhausted | RefusalReason::Misconfigured | RefusalReason::NeverSent => true,
        RefusalReason::UnknownSubscriber
        | RefusalReason::Disconnected
        | RefusalReason::WrongCheckDigit
        | RefusalReason::Blocked
        | RefusalReason::Unsupported
        | RefusalReason::BelowMinimum
        | RefusalReason::AboveMaximum
        | RefusalReason::DuplicateSale
        | RefusalReason::Busy
        | RefusalReason::Other
        | RefusalReason::OtherTransient => false,
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

    const METER: Requested<'static> = Requested { product: Product::Electricity, provider_code: "BPC" };
    const PHONE: Requested<'static> = Requested { product: Product::Airtime, provider_code: "RELOADLY" };

    fn because(reason: RefusalReason) -> Refusal {
        Refusal { reason, wording: Some("Said by the supplier".to_owned()) }
    }

    #[test]
    fn every_refusal_has_its_code_and_only_what_is_passing_is_retryable() {
        let answered = RefusalReason::ALL.map(|reason| {
            let error = refused(&because(reason), METER);
            (error.code().as_str(), error.param().unwrap_or("-").to_owned(), error.is_retryable())
        });
        let expected = [
            ("meter_not_found", "-", false),
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
            ("provider_error", "-", true),
        ]
        .map(|(code, param, retryable)| (code, param.to_owned(), retryable));
        assert_eq!(answered, expected);
    }

    #[test]
    fn the_wording_is_passed_on_unless_it_is_about_us() {
        let messages = Messages::new();
        let quoted = RefusalReason::ALL.map(|reason| {
            let message = refused(&because(reason), METER).message(&messages, Language::English);
            message.ends_with("The provider says: Said by the supplier")
        });
        let silent = [RefusalReason::FloatExhausted, RefusalReason::NeverSent, RefusalReason::Misconfigured];
        assert_eq!(quoted, RefusalReason::ALL.map(|reason| !silent.contains(&reason)));
    }

    #[test]
    fn a_refusal_without_wording_names_the_provider_unless_it_is_about_us() {
        let messages = Messages::new();
        let silent = [RefusalReason::FloatExhausted, RefusalReason::NeverSent, RefusalReason::Misconfigured];
        for reason in RefusalReason::ALL {
            let message = refused(&Refusal::because(reason), METER).message(&messages, Language::English);
            assert_eq!(message.contains("BPC"), !silent.contains(&reason), "{message}");
        }
    }

    #[test]
    fn what_is_said_about_a_phone_speaks_of_a_phone_and_not_of_a_meter() {
        let messages = Messages::new();
        for language in Language::ALL {
            for reason in
                RefusalReason::ALL.into_iter().filter(|reason| *reason != RefusalReason::Disconnected)
            {
                let error = refused(&because(reason), PHONE);
                assert_eq!(error.code(), refused(&because(reason), METER).code(), "{reason:?}");
                let message = error.message(&messages, language).to_lowercase();
                for meter in ["meter", "compteur", "contador"] {
                    assert!(!message.contains(meter), "{reason:?}: {message}");
                }
            }
        }
    }

    #[test]
    fn a_meter_that_is_disconnected_is_not_called_unknown() {
        let error = refused(&Refusal::because(RefusalReason::Disconnected), METER);
        assert_eq!(error.code(), ErrorCode::MeterNotFound);
        let message = error.message(&Messages::new(), Language::English);
        assert!(message.contains("has disconnected this meter") && message.contains("BPC"), "{message}");
    }

    #[test]
    fn a_failure_told_later_is_final_and_of_the_400_class() {
        let failures = RefusalReason::ALL.map(|reason| Failure::Refused(because(reason)));
        for failure in failures.iter().chain([&Failure::NoRecord, &Failure::Operator]) {
            let error = failed_before(failure, METER);
            assert!((400..500).contains(&error.status()), "{failure:?}");
            assert!(!error.is_retryable(), "{failure:?}");
        }
    }

    #[test]
    fn one_failure_has_one_code_and_one_wording_whenever_it_is_told() {
        let messages = Messages::new();
        let failures = RefusalReason::ALL.map(|reason| Failure::Refused(because(reason)));
        for failure in failures.iter().chain([&Failure::NoRecord, &Failure::Operator]) {
            let shown = |error: ApiError| {
                (error.code(), error.message(&messages, Language::English), error.buy_again())
            };
            assert_eq!(shown(failed(failure, METER)), shown(failed_before(failure, METER)), "{failure:?}");
        }
    }

    #[test]
    fn a_purchase_that_never_reached_its_provider_is_not_called_refused_by_it() {
        for failure in [Failure::NoRecord, Failure::Refused(Refusal::because(RefusalReason::NeverSent))] {
            let error = failed_before(&failure, METER);
            assert_eq!((error.code(), error.status()), (ErrorCode::ProviderUnavailable, 422));
            assert_eq!(error.buy_again(), Some(true));
        }
    }

    #[test]
    fn a_check_that_cannot_be_made_reads_differently_before_a_quote_and_before_money() {
        let timed_out = Unanswered::NoAnswer(Doubt::TimedOut);
        assert_eq!(unanswered(&timed_out, Asked::ForAQuote, METER).code(), ErrorCode::ProviderTimeout);
        assert_eq!(
            unanswered(&timed_out, Asked::BeforeAPurchase, METER).code(),
            ErrorCode::ProviderUnavailable
        );
        let garbage = Unanswered::NoAnswer(Doubt::Unreadable);
        assert_eq!(unanswered(&garbage, Asked::ForAQuote, METER).code(), ErrorCode::UpstreamError);
        let unreachable = Unanswered::Unreachable;
        assert_eq!(unanswered(&unreachable, Asked::ForAQuote, METER).code(), ErrorCode::ProviderUnavailable);
    }
}
