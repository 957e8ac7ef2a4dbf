//! The broad categories that clients branch on first, and the HTTP status that each one has.

use std::fmt;

/// An error type of the specification, section 7.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorType {
    /// The caller is not authenticated.
    Authentication,
    /// The caller may not do this.
    Permission,
    /// The request breaks a rule of form or of business.
    Validation,
    /// The requested object does not exist for this caller.
    NotFound,
    /// The request conflicts with an operation that is in progress.
    Conflict,
    /// The wallet does not cover the amount.
    InsufficientFunds,
    /// Too many requests.
    RateLimit,
    /// The provider refused.
    Provider,
    /// The provider did not answer in time. The outcome is not known yet.
    ProviderTimeout,
    /// The provider could not be asked.
    ProviderUnavailable,
    /// The service itself failed.
    Internal,
}

impl ErrorType {
    /// Every type, in the order of the specification.
    pub const ALL: [Self; 11] = [
        Self::Authentication,
        Self::Permission,
        Self::Validation,
        Self::NotFound,
        Self::Conflict,
        Self::InsufficientFunds,
        Self::RateLimit,
        Self::Provider,
        Self::ProviderTimeout,
        Self::ProviderUnavailable,
        Self::Internal,
    ];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Authentication => "authentication_error",
            Self::Permission => "permission_error",
            Self::Validation => "validation_error",
            Self::NotFound => "not_found_error",
            Self::Conflict => "conflict_error",
            Self::InsufficientFunds => "insufficient_funds_error",
            Self::RateLimit => "rate_limit_error",
            Self::Provider => "provider_error",
            Self::ProviderTimeout => "provider_timeout",
            Self::ProviderUnavailable => "provider_unavailable",
            Self::Internal => "internal_error",
        }
    }

    /// The HTTP status of every answer of this type.
    pub const fn status(self) -> u16 {
        match self {
            Self::Authentication => 401,
            Self::Permission => 403,
            Self::Validation => 400,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::InsufficientFunds => 402,
            Self::RateLimit => 429,
            Self::Provider => 422,
            Self::ProviderTimeout => 504,
            Self::ProviderUnavailable => 502,
            Self::Internal => 500,
        }
    }
}

impl fmt::Display for ErrorType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
