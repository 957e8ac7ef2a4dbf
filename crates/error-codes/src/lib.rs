//! The one table of error codes: code, type, HTTP status, retryable, usual field, what a confirm or retry that answers it
//! did with the money and what to do then, documentation text.
//!
//! Every error answer of the service, its documentation page and the tests read this table, so that they
//! cannot disagree (specification, section 7).
//!
//! ```
//! use error_codes::{ErrorCode, Retryable};
//!
//! let code = ErrorCode::parse("provider_timeout").expect("a code of the specification");
//! assert_eq!((code.error_type().as_str(), code.status()), ("provider_timeout", 504));
//! assert_eq!(code.retryable(), Retryable::Always);
//! ```
#![warn(missing_docs)]

mod code;
mod decision;
mod error_type;
mod table;

pub use code::ErrorCode;
pub use decision::{Action, Decision, Money, MoneyCall, Reference, Reply};
pub use error_type::ErrorType;

/// Whether the very same request may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retryable {
    /// It may.
    Always,
    /// It may not: it would get the same answer.
    Never,
    /// Only if the provider said that its refusal is transient. Each answer states it.
    WhenProviderHinted,
}

impl Retryable {
    /// The `retryable` of one answer. `hinted` says whether the provider called its refusal transient.
    pub const fn given(self, hinted: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::WhenProviderHinted => hinted,
        }
    }
}
