//! The calls about batches, which share most of what is said of an [`Endpoint`](super::Endpoint).

use actix_web::http::Method;
use error_codes::ErrorCode;
use identity::Permission;

/// A call about batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BatchCall {
    /// The organisation's batches.
    List,
    /// Makes one.
    Create,
    /// One of them.
    One,
    /// The lines of one.
    Lines,
    /// Begins no line for the time being.
    Pause,
    /// Goes on.
    Resume,
    /// Begins no line any more.
    Cancel,
}

impl BatchCall {
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::List => "/public/v1/batches",
            Self::Create => "/public/v1/batches/create",
            Self::One => "/public/v1/batches/{id}",
            Self::Lines => "/public/v1/batches/{id}/lines",
            Self::Pause => "/public/v1/batches/{id}/pause",
            Self::Resume => "/public/v1/batches/{id}/resume",
            Self::Cancel => "/public/v1/batches/{id}/cancel",
        }
    }

    pub(super) const fn method(self) -> Method {
        match self {
            Self::List | Self::One | Self::Lines => Method::GET,
            Self::Create | Self::Pause | Self::Resume | Self::Cancel => Method::POST,
        }
    }

    pub(super) const fn query_parameters(self) -> &'static [&'static str] {
        match self {
            Self::List => &["cursor", "limit"],
            Self::Create => &["reference", "language", "debited_account_id", "currency"],
            Self::Lines => &["status", "cursor", "limit", "format"],
            Self::One | Self::Pause | Self::Resume | Self::Cancel => &[],
        }
    }

    pub(super) const fn permission(self) -> Permission {
        match self {
            Self::List | Self::One | Self::Lines => Permission::BatchesRead,
            Self::Create | Self::Pause | Self::Resume | Self::Cancel => Permission::BatchesManage,
        }
    }

    /// The codes that only these calls have.
    pub(super) const fn codes(self) -> &'static [&'static [ErrorCode]] {
        match self {
            Self::List => &[],
            Self::Create => &[&[ErrorCode::MissingField, ErrorCode::ResourceNotFound]],
            Self::One | Self::Lines | Self::Pause | Self::Resume | Self::Cancel => {
                &[&[ErrorCode::ResourceNotFound]]
            }
        }
    }
}
