//! The error codes for the errors of the use cases.

use std::time::Duration;

use error_codes::ErrorCode;
use messages::Detail;
use money::MoneyError;
use purchase::{PriceError, Record, Recovery};
use vend::{Product, RefusalReason};
use vending::{ConfirmError, PauseEnd, ReadError, Rejection, RetryError, RetryScope};

use crate::{
    ApiError, Asked, OVERLOAD_PAUSE, Requested, failed, failed_before, idempotency_key,
    impossible_subscriber, unanswered,
};

/// How long a caller should wait while a confirm that was under way is refused.
const CLOSED_PAUSE: Duration = Duration::from_secs(1);

/// How long a caller should wait at least until a pause ends.
const PAUSE_LEFT_MIN: Duration = Duration::from_secs(1);

/// The error for a rejection: nothing was reserved and nothing moved.
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
        Rejection::OfferRemoved { provider_code } => {
            ApiError::new(Detail::OfferRemoved).with("provider", provider_code)
        }
        Rejection::Paused { provider_code, until } => paused(provider_code, until.as_ref()),
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
        Rejection::Pending(recovery) => ApiError::new(Detail::PurchaseOpen).recovered_by(*recovery),
        Rejection::KeyClosed => ApiError::new(Detail::PurchaseOpen).after(CLOSED_PAUSE),
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

/// The caller comes back when the pause has ended, if that is known.
fn paused(provider_code: &str, until: Option<&PauseEnd>) -> ApiError {
    let Some(PauseEnd { at, wait }) = until else {
        return ApiError::new(Detail::ProviderPaused).with("provider", provider_code);
    };
    ApiError::new(Detail::ProviderPausedUntil)
        .with("provider", provider_code)
        .with("until", at.format("%Y-%m-%d %H:%M:%S"))
        .after((*wait).max(PAUSE_LEFT_MIN))
}

/// The error where the purchase was not made, or where its outcome is unknown.
pub fn not_confirmed(error: &ConfirmError, product: Product) -> ApiError {
    match error {
        ConfirmError::Rejected(rejection) => rejected(rejection, product, Asked::BeforeAPurchase),
        ConfirmError::Failed(record) => why_not_confirmed(record),
        ConfirmError::FailedBefore(record) => why_not_confirmed(record).replayed(),
        ConfirmError::Unknown(recovery) => unknown(*recovery),
        ConfirmError::TokenUnreadable(recovery) => token_unreadable(*recovery),
    }
}

/// Why a purchase has failed, for the confirm that made it and for a repeat of that confirm under its key. The answer
/// is the confirm's own. If another process found the failure, it is the answer that this process has given.
fn why_not_confirmed(record: &Record) -> ApiError {
    if record.lifecycle.is_unclaimed() {
        record.failure.as_ref().map_or_else(unexplained, |failure| failed(failure, record.into()))
    } else {
        why_failed(record)
    }
}

/// The error where the purchase in question was not made, cannot be found in this scope, or has no known outcome yet.
pub fn not_resolved(error: &RetryError, among: RetryScope) -> ApiError {
    match error {
        RetryError::NotFound => not_found(among),
        RetryError::Disabled => ApiError::new(ErrorCode::RetriesDisabled),
        RetryError::Failed(record) => why_failed(record),
        RetryError::Pending(recovery) => ApiError::new(Detail::StillOpen).recovered_by(*recovery),
        // A failure of ours leaves the outcome as open as a silent provider does. An internal error would suggest that
        // it is safe to buy again.
        RetryError::Unreachable(recovery) => unknown(*recovery),
        RetryError::TokenUnreadable(recovery) => token_unreadable(*recovery),
        RetryError::Overloaded => ApiError::new(ErrorCode::RateLimited).after(OVERLOAD_PAUSE),
    }
}

/// The same for a confirm under a key, for a retry, and for a read of the purchase. It must read as "do not buy again",
/// which an internal error does not.
fn token_unreadable(recovery: Recovery) -> ApiError {
    ApiError::new(Detail::TokenUnreadable).recovered_by(recovery)
}

fn unknown(recovery: Recovery) -> ApiError {
    ApiError::new(ErrorCode::ProviderTimeout).recovered_by(recovery)
}

/// The message names the scope, because a purchase outside of it may have been charged.
fn not_found(among: RetryScope) -> ApiError {
    match among {
        RetryScope::AnyProduct => ApiError::new(ErrorCode::TransactionNotFound),
        RetryScope::ElectricityOnly => ApiError::new(Detail::NoElectricityTransaction),
    }
}

/// Why a purchase has failed, for later requests: the same for a retry and for a read.
pub fn why_failed(record: &Record) -> ApiError {
    match &record.failure {
        Some(failure) => failed_before(failure, record.into()),
        None => unexplained().never_retryable(),
    }
}

/// What was found, or the error that there is no such thing.
pub fn found<T>(thing: Option<T>) -> Result<T, ApiError> {
    thing.ok_or_else(|| ApiError::new(ErrorCode::ResourceNotFound))
}

/// The error for a failed read.
pub fn not_read(error: ReadError) -> ApiError {
    match error {
        ReadError::Overloaded => ApiError::new(ErrorCode::RateLimited).after(OVERLOAD_PAUSE),
        ReadError::Internal => ApiError::new(ErrorCode::InternalError).because(error),
        ReadError::TokenUnreadable(recovery) => token_unreadable(recovery),
    }
}

/// The failure of a purchase whose record has no reason. It has failed all the same.
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
