//! Every way in which a use case ends without success. The surfaces turn each into one error code.

use std::time::Duration;

use money::{Currency, Money};
use purchase::{FormatError, PriceError, Record, Recovery};
use store::{ReserveRefusal, StoreError};
use vend::{RefusalReason, Unanswered};

/// Refused before anything was reserved: nothing is held, nothing moved, nothing is stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// No such account of this organisation.
    #[error("the account is not one of the organisation's")]
    UnknownAccount,
    /// The account is not active, or not of a kind that pays.
    #[error("the account cannot be debited")]
    AccountNotDebitable,
    /// The organisation is suspended.
    #[error("the organisation is suspended")]
    Suspended,
    /// Token, client or user are no longer live.
    #[error("the caller's authority has been revoked")]
    Revoked,
    /// The account is in another currency than the amount.
    #[error("the account is in {account}")]
    OtherCurrency {
        /// The account's.
        account: Currency,
    },
    /// The organisation cannot buy this product.
    #[error("the product is not offered to the organisation")]
    UnknownProduct,
    /// The organisation cannot buy this product from this provider.
    #[error("the provider does not offer the product to the organisation")]
    UnknownProvider,
    /// The organisation has no default provider of the product, and the request names none.
    #[error("the organisation has no default provider of the product")]
    NoDefaultProvider,
    /// The identifier is not of the product's form.
    #[error("the subscriber identifier does not fit the product")]
    SubscriberFormat(#[source] FormatError),
    /// The organisation is locked to others.
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
    /// The provider's check, quote or trial gave no yes.
    #[error("the check at {provider_code} did not pass")]
    Check {
        /// Which provider was asked.
        provider_code: String,
        /// What came of it.
        unanswered: Unanswered,
    },
    /// Too little is available.
    #[error("the balance is {gap} too low")]
    Insufficient {
        /// How much is missing.
        gap: Money,
    },
    /// An earlier purchase for the same subscriber is open, or the one under the same idempotency key.
    #[error("an earlier purchase for the same subscriber is open")]
    Pending(Recovery),
    /// Another confirm under the idempotency key was refused while this one was under way.
    #[error("the idempotency key was closed by another confirm's refusal")]
    KeyClosed,
    /// Another request was made under the same idempotency key.
    #[error("the idempotency key belongs to another request")]
    KeyReused,
    /// A retry has answered "not found" or "failed" for the external reference, which still rests.
    #[error("the external reference rests for another {wait:?}")]
    ReferenceRests {
        /// How long it does.
        wait: Duration,
    },
    /// The caller closed its connection before anything was held.
    #[error("the caller closed its connection")]
    CallerGone,
    /// The request took so long to come this far that its order may not leave any more.
    #[error("the request is too old")]
    TooLate,
    /// Too many are waiting.
    #[error("the service is overloaded")]
    Overloaded,
    /// Our own fault; logged where it happened.
    #[error("the service failed")]
    Internal,
}

/// How a confirm ends without success.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfirmError {
    /// Nothing was reserved.
    #[error("the purchase was rejected")]
    Rejected(#[from] Rejection),
    /// Reserved, proven not to be vended, released. Final.
    #[error("the purchase failed")]
    Failed(Box<Record>),
    /// The purchase that holds the idempotency key had failed before. Final, and told again.
    #[error("the purchase under the key has failed")]
    FailedBefore(Box<Record>),
    /// The purchase may be open, and its outcome is not known.
    #[error("the outcome of the purchase is not known yet")]
    Unknown(Recovery),
    /// The purchase under the idempotency key has succeeded, but its token cannot be opened here.
    #[error("the token of the purchase cannot be opened")]
    TokenUnreadable(Recovery),
}

impl ConfirmError {
    /// Whether this confirm made no purchase, and not for want of room: that is worth keeping for whoever asks about it.
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
    /// There is no such purchase, and there will be none from a confirm that has begun.
    #[error("there is no purchase of that reference")]
    NotFound,
    /// Retries are switched off for the account or the provider.
    #[error("retries are switched off")]
    Disabled,
    /// It failed. Final; a fresh confirm is allowed.
    #[error("the purchase failed")]
    Failed(Box<Record>),
    /// Still open.
    #[error("the purchase is still open")]
    Pending(Recovery),
    /// Still open, and the provider could not be asked; or the question itself failed, by our own fault, which is logged
    /// where it happened.
    #[error("the purchase could not be asked about")]
    Unreachable(Recovery),
    /// It has succeeded, but its token cannot be opened here.
    #[error("the token of the purchase cannot be opened")]
    TokenUnreadable(Recovery),
    /// Too many are waiting: nothing was found out, and the same may be asked again.
    #[error("the service is overloaded")]
    Overloaded,
}

/// A read failed by our own fault; logged where it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The same may succeed a moment later.
    #[error("the service is overloaded")]
    Overloaded,
    /// It will not.
    #[error("the service failed")]
    Internal,
    /// The purchase has succeeded, but its token cannot be opened here.
    #[error("the token of the purchase cannot be opened")]
    TokenUnreadable(Recovery),
}

impl Rejection {
    /// A question to the provider of this code has no good answer.
    pub(crate) fn of_check(provider_code: &str) -> impl FnOnce(Unanswered) -> Self {
        move |unanswered| Self::Check { provider_code: provider_code.to_owned(), unanswered }
    }

    /// Why a reserve was refused; `open` is what is known of the purchase that is in its way, where one is.
    pub(crate) fn of(refusal: ReserveRefusal, open: Recovery) -> Self {
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
            ReserveRefusal::NotOffered => Self::UnknownProvider,
            ReserveRefusal::SubscriberNotAllowed => Self::SubscriberNotAllowed,
            ReserveRefusal::TooLate => Self::TooLate,
            ReserveRefusal::NoCommissionAccount => {
                tracing::error!("commission is due to an organisation without a commission account");
                Self::Internal
            }
        }
    }
}

/// Logs the whole chain once, here where it is handled.
pub(crate) fn internal(what: &'static str, error: &StoreError) -> Failed {
    let cause: &dyn std::error::Error = error;
    tracing::error!(cause, "{what}");
    if error.may_pass() { Failed::ForNow } else { Failed::ForGood }
}

/// Our own fault, already logged.
pub(crate) enum Failed {
    /// The same may succeed a moment later.
    ForNow,
    /// It will not.
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
