//! Every way in which a use case ends without success. Each surface maps them to its error codes.

use std::time::Duration;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use database::DatabaseError;
use money::{Currency, Money};
use purchase::{FormatError, PriceError, Record, Recovery};
use store::ReserveRefusal;
use vend::{RefusalReason, Unanswered};

/// Refused before anything was reserved: nothing is held, no money moved, and no purchase is written. A confirm that
/// is refused may be stored as such, see [`ConfirmError::is_refusal`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// No such account of this organisation.
    #[error("the account is not one of the organisation's")]
    UnknownAccount,
    /// The account is not active, or it is of a kind that cannot pay.
    #[error("the account cannot be debited")]
    AccountNotDebitable,
    /// The organisation is suspended.
    #[error("the organisation is suspended")]
    Suspended,
    /// The token, the client or the user is revoked.
    #[error("the caller's authority has been revoked")]
    Revoked,
    /// The account is in another currency than the amount.
    #[error("the account is in {account}")]
    OtherCurrency {
        /// The currency of the account.
        account: Currency,
    },
    /// The organisation cannot buy this product.
    #[error("the product is not offered to the organisation")]
    UnknownProduct,
    /// The organisation cannot buy this product from this provider.
    #[error("the provider does not offer the product to the organisation")]
    UnknownProvider,
    /// The organisation could buy this product from this provider, and cannot any more.
    #[error("the provider's offer to the organisation was removed")]
    OfferRemoved {
        /// The provider.
        provider_code: String,
    },
    /// The provider's sales of the product are paused, by an operator or by a breaker.
    #[error("the sales of {provider_code} are paused")]
    Paused {
        /// The provider.
        provider_code: String,
        /// When the pause ends. `None` if that is not known.
        until: Option<PauseEnd>,
    },
    /// The organisation has no default provider of the product, and the request names none.
    #[error("the organisation has no default provider of the product")]
    NoDefaultProvider,
    /// The identifier does not have the product's format.
    #[error("the subscriber identifier does not fit the product")]
    SubscriberFormat(#[source] FormatError),
    /// The organisation may buy only for other subscribers.
    #[error("the subscriber is not on the organisation's allow-list")]
    SubscriberNotAllowed,
    /// The amount has no price.
    #[error("the amount has no price")]
    Price(#[source] PriceError),
    /// The amount is outside what the provider lets this customer buy.
    #[error("the amount is outside the customer's limit of {limit}")]
    Limit {
        /// `BelowMinimum` or `AboveMaximum`.
        reason: RefusalReason,
        /// The limit.
        limit: Money,
    },
    /// The provider's check, quote or trial did not succeed.
    #[error("the check at {provider_code} did not pass")]
    Check {
        /// The provider that was asked.
        provider_code: String,
        /// The result.
        unanswered: Unanswered,
    },
    /// The available balance is too low.
    #[error("the balance is {gap} too low")]
    Insufficient {
        /// How much is missing.
        gap: Money,
    },
    /// An earlier purchase for the same subscriber or under the same idempotency key is open.
    #[error("an earlier purchase for the same subscriber or under the same key is open")]
    Pending(Recovery),
    /// Another confirm under the idempotency key was refused while this one was in progress.
    #[error("the idempotency key was closed by another confirm's refusal")]
    KeyClosed,
    /// Another request was made under the same idempotency key.
    #[error("the idempotency key belongs to another request")]
    KeyReused,
    /// A retry has answered "not found" or "failed" for the external reference, and the reference still rests.
    #[error("the external reference rests for another {wait:?}")]
    ReferenceRests {
        /// How long it still rests.
        wait: Duration,
    },
    /// The caller closed its connection before anything was held.
    #[error("the caller closed its connection")]
    CallerGone,
    /// The request took so long to get here that its order may not be sent any more.
    #[error("the request is too old")]
    TooLate,
    /// Too many requests are waiting.
    #[error("the service is overloaded")]
    Overloaded,
    /// A fault of this service. It is logged where it happened.
    #[error("the service failed")]
    Internal,
}

/// When a pause of a provider's sales ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseEnd {
    /// The moment, in the service's time zone.
    pub at: DateTime<Tz>,
    /// How long it is until then.
    pub wait: Duration,
}

impl PauseEnd {
    /// The end as it is seen at the local time `now`.
    pub(crate) fn seen_at(now: DateTime<Tz>, until: DateTime<Utc>) -> Self {
        let wait = until.signed_duration_since(now).to_std().unwrap_or_default();
        Self { at: until.with_timezone(&now.timezone()), wait }
    }
}

/// How a confirm ends without success.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfirmError {
    /// Nothing was reserved.
    #[error("the purchase was rejected")]
    Rejected(#[from] Rejection),
    /// Reserved, proven not to be vended, and released. Final.
    #[error("the purchase failed")]
    Failed(Box<Record>),
    /// The purchase that holds the idempotency key had failed before. This final answer is repeated.
    #[error("the purchase under the key has failed")]
    FailedBefore(Box<Record>),
    /// The purchase may be open, and its outcome is not known.
    #[error("the outcome of the purchase is not known yet")]
    Unknown(Recovery),
    /// The purchase has succeeded, but its token cannot be opened here.
    #[error("the token of the purchase cannot be opened")]
    TokenUnreadable(Recovery),
}

impl ConfirmError {
    /// Whether this confirm made no purchase, for another reason than overload. Such a confirm is stored for later
    /// questions.
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::Rejected(Rejection::Overloaded)
            | Self::Failed(_)
            | Self::FailedBefore(_)
            | Self::Unknown(_)
            | Self::TokenUnreadable(_) => false,
            Self::Rejected(_) => true,
        }
    }
}

/// How a retry ends without success.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RetryError {
    /// There is no such purchase, and a confirm that has already begun will not make one.
    #[error("there is no purchase of that reference")]
    NotFound,
    /// Retries are disabled for the account or the provider.
    #[error("retries are switched off")]
    Disabled,
    /// It failed. This is final, and a fresh confirm is allowed.
    #[error("the purchase failed")]
    Failed(Box<Record>),
    /// Still open.
    #[error("the purchase is still open")]
    Pending(Recovery),
    /// Still open, and the provider could not be asked. Or the question itself failed by a fault of this service,
    /// which is logged where it happened.
    #[error("the purchase could not be asked about")]
    Unreachable(Recovery),
    /// It has succeeded, but its token cannot be opened here.
    #[error("the token of the purchase cannot be opened")]
    TokenUnreadable(Recovery),
    /// Too many requests are waiting. Nothing was found out, and the same question may be asked again.
    #[error("the service is overloaded")]
    Overloaded,
}

/// A read failed by a fault of this service. It is logged where it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The same may succeed a moment later.
    #[error("the service is overloaded")]
    Overloaded,
    /// The same will not succeed a moment later.
    #[error("the service failed")]
    Internal,
    /// The purchase has succeeded, but its token cannot be opened here.
    #[error("the token of the purchase cannot be opened")]
    TokenUnreadable(Recovery),
}

impl Rejection {
    /// A question to the provider of this code that did not succeed.
    pub(crate) fn of_check(provider_code: &str) -> impl FnOnce(Unanswered) -> Self {
        move |unanswered| Self::Check { provider_code: provider_code.to_owned(), unanswered }
    }

    /// Why a reserve of this provider's order was refused. `open` is the recovery of the purchase that blocks it, if there is
    /// one, and `now` the local time.
    pub(crate) fn of(
        refusal: ReserveRefusal,
        provider_code: &str,
        open: Recovery,
        now: DateTime<Tz>,
    ) -> Self {
        let provider_code = || provider_code.to_owned();
        match refusal {
            ReserveRefusal::Revoked => Self::Revoked,
            ReserveRefusal::Suspended => Self::Suspended,
            ReserveRefusal::UnknownAccount => Self::UnknownAccount,
            ReserveRefusal::NotDebitable => Self::AccountNotDebitable,
            ReserveRefusal::OtherCurrency(account) => Self::OtherCurrency { account },
            ReserveRefusal::Insufficient { gap } => Self::Insufficient { gap },
            ReserveRefusal::Pending { .. } | ReserveRefusal::KeyTaken => Self::Pending(open),
            ReserveRefusal::KeyClosed => Self::KeyClosed,
            ReserveRefusal::ReferenceRests { wait } => Self::ReferenceRests { wait },
            ReserveRefusal::Abandoned => Self::CallerGone,
            // The offer was there when the purchase was priced.
            ReserveRefusal::NotOffered => Self::OfferRemoved { provider_code: provider_code() },
            ReserveRefusal::Paused { until } => Self::Paused {
                provider_code: provider_code(),
                until: until.map(|until| PauseEnd::seen_at(now, until)),
            },
            ReserveRefusal::SubscriberNotAllowed => Self::SubscriberNotAllowed,
            ReserveRefusal::TooLate => Self::TooLate,
            ReserveRefusal::NoCommissionAccount => {
                tracing::error!("commission is due to an organisation without a commission account");
                Self::Internal
            }
        }
    }
}

/// Logs the whole chain of causes once, here where the error is handled.
pub(crate) fn internal(what: &'static str, error: &DatabaseError) -> Failed {
    let cause: &dyn std::error::Error = error;
    tracing::error!(cause, "{what}");
    if error.may_pass() { Failed::ForNow } else { Failed::ForGood }
}

/// A fault of this service that is already logged.
pub(crate) enum Failed {
    /// The same may succeed a moment later.
    ForNow,
    /// The same will not succeed a moment later.
    ForGood,
}

impl From<Failed> for Rejection {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::ForNow => Self::Overloaded,
            Failed::ForGood => Self::Internal,
        }
    }
}

impl From<Failed> for ReadError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::ForNow => Self::Overloaded,
            Failed::ForGood => Self::Internal,
        }
    }
}
