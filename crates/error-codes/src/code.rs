//! The stable identifiers of everything that can go wrong.

use std::fmt;

use crate::{ErrorType, Retryable, table::row};

/// An error code of the specification, section 7.3, or `rate_limited` or `certificates_disabled`, which this service adds.
///
/// What each means and what to do about it: [`ErrorCode::meaning`], [`ErrorCode::remedy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "`table.rs` documents each code, in text that is also served")]
pub enum ErrorCode {
    InvalidCredentials,
    MissingPermission,
    Forbidden,
    MeterNotAllowed,
    RetriesDisabled,
    MissingField,
    InvalidArgument,
    InvalidMsisdn,
    InvalidMeterNumber,
    InvalidAmount,
    AmountBelowMinimum,
    AmountAboveMaximum,
    AmountBelowCharges,
    MethodNotAllowed,
    ResourceNotFound,
    MeterNotFound,
    TransactionNotFound,
    InsufficientBalance,
    DuplicateRequest,
    TransactionPending,
    MeterBlocked,
    MeterUnsupported,
    MerchantCreditExhausted,
    ProviderBusy,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    UpstreamError,
    InternalError,
    RateLimited,
    CertificatesDisabled,
}

impl ErrorCode {
    /// Every code, in the order of the specification, the added ones last.
    pub const ALL: [Self; 31] = [
        Self::InvalidCredentials,
        Self::MissingPermission,
        Self::Forbidden,
        Self::MeterNotAllowed,
        Self::RetriesDisabled,
        Self::MissingField,
        Self::InvalidArgument,
        Self::InvalidMsisdn,
        Self::InvalidMeterNumber,
        Self::InvalidAmount,
        Self::AmountBelowMinimum,
        Self::AmountAboveMaximum,
        Self::AmountBelowCharges,
        Self::MethodNotAllowed,
        Self::ResourceNotFound,
        Self::MeterNotFound,
        Self::TransactionNotFound,
        Self::InsufficientBalance,
        Self::DuplicateRequest,
        Self::TransactionPending,
        Self::MeterBlocked,
        Self::MeterUnsupported,
        Self::MerchantCreditExhausted,
        Self::ProviderBusy,
        Self::ProviderError,
        Self::ProviderTimeout,
        Self::ProviderUnavailable,
        Self::UpstreamError,
        Self::InternalError,
        Self::RateLimited,
        Self::CertificatesDisabled,
    ];

    /// The name on the wire; it never changes.
    pub const fn as_str(self) -> &'static str {
        row(self).name
    }

    /// The code of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }

    /// The category, which decides the HTTP status.
    pub const fn error_type(self) -> ErrorType {
        row(self).error_type
    }

    /// The HTTP status.
    pub const fn status(self) -> u16 {
        self.error_type().status()
    }

    /// The HTTP status of a purchase's failure when it is reported later. Such a failure is final, so the
    /// status is of the 400 class (specification, section 3). It is 422 where the code's own status is 5xx.
    pub const fn status_answered_later(self) -> u16 {
        let status = self.status();
        if status < 500 { status } else { ErrorType::Provider.status() }
    }

    /// Whether the same request may be sent again.
    pub const fn retryable(self) -> Retryable {
        row(self).retryable
    }

    /// The request field that this code is about, where it is always the same one.
    pub const fn usual_param(self) -> Option<&'static str> {
        row(self).param
    }

    /// What happened, for the documentation page.
    pub const fn meaning(self) -> &'static str {
        row(self).meaning
    }

    /// What the integrator does about it, for the documentation page.
    pub const fn remedy(self) -> &'static str {
        row(self).remedy
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
