//! What the use cases answer when they cannot do what was asked, as error codes.

use std::time::Duration;

use error_codes::ErrorCode;
use messages::Detail;
use money::MoneyError;
use purchase::{PriceError, Record, Recovery};
use vend::{Product, RefusalReason};
use vending::{ConfirmError, ReadError, Rejection, RetryError, RetryScope};

use crate::{
    ApiError, Asked, OVERLOAD_PAUSE, Requested, failed, failed_before, idempotency_key,
    impossible_subscriber, unanswered,
};

/// How long to wait for a confirm that was under way to be turned away.
const CLOSED_PAUSE: Duration = Duration::from_secs(1);

/// Nothing was reserved and nothing moved.
pub fn rejected(rejection: &Rejection, product: Product, asked: Asked) -> ApiError {
    match rejection {
        Rejection::UnknownAccount => ApiError::new(Detail::Account).about("debited_account_id"),
        Rejection::AccountNotDebitable => {
            ApiError::new(Detail::AccountNotDebitable).about("debited_account_id")
        }
        Rejection::Suspended => ApiError::new(Detail::OrganisationSuspended),
        Rejection::Revoked => ApiError::new(ErrorCode::InvalidCredentials),
        Rejection::OtherCurrency { account } => {
            ApiError::new(Detail::CurrencyDiffers).about("currency").with("currency", account)
        }
        Rejection::UnknownProduct => ApiError::new(ErrorCode::InvalidArgument).about("product_type"),
        Rejection::UnknownProvider => ApiError::new(Detail::UnknownProvider).about("provider_code"),
        Rejection::NoDefaultProvider => ApiError::new(Detail::NoDefaultProvider),
        Rejection::SubscriberFormat(why) => impossible_subscriber(product).because(*why),
        Rejection::SubscriberNotAllowed => match product {
            Product::Electricity | Product::Water => ApiError::new(ErrorCode::MeterNotAllowed),
            Product::Airtime => ApiError::new(Detail::PhoneNotAllowed),
        },
        Rejection::Price(why) => no_price(why),
        Rejection::Limit { reason, limit } => outside_limit(*reason).with("limit", limit),
        Rejection::Check { provider_code, unanswered: silence } => {
            unanswered(silence, asked, Requested { product, provider_code })
        }
        Rejection::Insufficient { gap } => ApiError::new(ErrorCode::InsufficientBalance).with("gap", gap),
        Rejection::Pending(recovery) => ApiError::new(ErrorCode::TransactionPending).recovered_by(*recovery),
        Rejection::KeyClosed => ApiError::new(ErrorCode::TransactionPending).after(CLOSED_PAUSE),
        Rejection::ReferenceRests { wait } => {
            ApiError::new(Detail::ReferenceRests).after((*wait).max(CLOSED_PAUSE))
        }
        Rejection::CallerGone => ApiError::new(Detail::CallerGone).after(CLOSED_PAUSE),
        Rejection::KeyReused => ApiError::new(Detail::IdempotencyKeyReused).about(idempotency_key::PARAM),
        Rejection::TooLate => ApiError::new(ErrorCode::ProviderUnavailable),
        Rejection::Overloaded => ApiError::new(ErrorCode::RateLimited).after(OVERLOAD_PAUSE),
        Rejection::Internal => ApiError::new(ErrorCode::InternalError),
    }
}

/// The purchase was not made, or nobody knows.
pub fn not_confirmed(error: &ConfirmError, product: Product) -> ApiError {
    match error {
        ConfirmError::Rejected(rejection) => rejected(rejection, product, Asked::BeforeAPurchase),
        ConfirmError::Failed(record) => why_not_confirmed(record),
        ConfirmError::FailedBefore(record) => why_not_confirmed(record).replayed(),
        ConfirmError::Unknown(recovery) => unknown(*recovery),
        ConfirmError::TokenUnreadable(recovery) => token_unreadable(*recovery),
    }
}

/// Why a purchase has failed, to the confirm that made it and to whoever sends that again under its key: the confirm's own
/// word, unless somebody else found out, who has told it in his.
fn why_not_confirmed(record: &Record) -> ApiError {
    if record.life.is_unclaimed() {
        record.failure.as_ref().map_or_else(unexplained, |failure| failed(failure, record.into()))
    } else {
        why_failed(record)
    }
}

/// The purchase that is asked about was not made, or is not to be had here, or nobody knows yet.
pub fn not_resolved(error: &RetryError, among: RetryScope) -> ApiError {
    match error {
        RetryError::NotFound => not_found(among),
        RetryError::Disabled => ApiError::new(ErrorCode::RetriesDisabled),
        RetryError::Failed(record) => why_failed(record),
        RetryError::Pending(recovery) => ApiError::new(ErrorCode::TransactionPending).recovered_by(*recovery),
        // A failure of ours leaves the question as open as a silent provider does: an internal error
        // would read as if it were safe to buy again.
        RetryError::Unreachable(recovery) => unknown(*recovery),
        RetryError::TokenUnreadable(recovery) => token_unreadable(*recovery),
        RetryError::Overloaded => ApiError::new(ErrorCode::RateLimited).after(OVERLOAD_PAUSE),
    }
}

/// The same to a confirm under a key, to a retry and to who reads the purchase. It must read as "do not buy again", which
/// an internal error does not.
fn token_unreadable(recovery: Recovery) -> ApiError {
    ApiError::new(Detail::TokenUnreadable).recovered_by(recovery)
}

fn unknown(recovery: Recovery) -> ApiError {
    ApiError::new(ErrorCode::ProviderTimeout).recovered_by(recovery)
}

/// What was not looked for may have been charged.
fn not_found(among: RetryScope) -> ApiError {
    match among {
        RetryScope::AnyProduct => ApiError::new(ErrorCode::TransactionNotFound),
        RetryScope::ElectricityOnly => ApiError::new(Detail::NoElectricityTransaction),
    }
}

/// Why a purchase has failed, to whoever asks later: the same whether it is retried or read.
pub fn why_failed(record: &Record) -> ApiError {
    match &record.failure {
        Some(failure) => failed_before(failure, record.into()),
        None => unexplained().never_retryable(),
    }
}

/// What was to be read could not be.
pub fn not_read(error: ReadError) -> ApiError {
    match error {
        ReadError::Overloaded => ApiError::new(ErrorCode::RateLimited).after(OVERLOAD_PAUSE),
        ReadError::Internal => ApiError::new(ErrorCode::InternalError).because(error),
        ReadError::TokenUnreadable(recovery) => token_unreadable(recovery),
    }
}

/// A failed purchase on whose record no reason stands: failed it has, all the same.
fn unexplained() -> ApiError {
    ApiError::new(Detail::EarlierAttemptFailed)
}

fn outside_limit(reason: RefusalReason) -> ApiError {
    if reason == RefusalReason::BelowMinimum {
        ApiError::new(Detail::MinimumIs)
    } else {
        ApiError::new(Detail::MaximumIs)
    }
}

fn no_price(why: &PriceError) -> ApiError {
    match why {
        PriceError::BelowMinimum(limit) => ApiError::new(Detail::MinimumIs).with("limit", limit),
        PriceError::AboveMaximum(limit) => ApiError::new(Detail::MaximumIs).with("limit", limit),
        PriceError::BelowCharges { charge, .. } => ApiError::new(Detail::ChargesAre).with("charge", charge),
        PriceError::Money(MoneyError::CurrencyMismatch(..)) => {
            ApiError::new(ErrorCode::InvalidArgument).about("currency")
        }
        PriceError::Money(
            MoneyError::Overflow
            | MoneyError::FinerThanMinorUnit(_)
            | MoneyError::BadCurrency(_)
            | MoneyError::BadRate(_)
            | MoneyError::BadWireForm(_),
        ) => ApiError::new(ErrorCode::InternalError).because(why.clone()),
    }
}
