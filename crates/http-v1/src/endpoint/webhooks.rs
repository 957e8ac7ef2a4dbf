//! The calls about webhook endpoints, which share most of what is said of an [`Endpoint`](super::Endpoint).

use actix_web::http::Method;
use error_codes::ErrorCode;
use identity::Permission;

/// A call about webhook endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WebhookCall {
    /// All endpoints of the organisation.
    List,
    /// Adds one.
    Create,
    /// One of them.
    One,
    /// Changes one.
    Update,
    /// Gives one new keys.
    RotateSecret,
    /// Deletes one.
    Delete,
    /// Has a test sent to one.
    Test,
    /// Has events sent once more to one.
    Redeliver,
    /// The log of attempts for one.
    Attempts,
}

impl WebhookCall {
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::List => "/public/v1/webhook-endpoints",
            Self::Create => "/public/v1/webhook-endpoints/create",
            Self::One => "/public/v1/webhook-endpoints/{id}",
            Self::Update => "/public/v1/webhook-endpoints/{id}/update",
            Self::RotateSecret => "/public/v1/webhook-endpoints/{id}/rotate-secret",
            Self::Delete => "/public/v1/webhook-endpoints/{id}/delete",
            Self::Test => "/public/v1/webhook-endpoints/{id}/test",
            Self::Redeliver => "/public/v1/webhook-endpoints/{id}/redeliver",
            Self::Attempts => "/public/v1/webhook-endpoints/{id}/attempts",
        }
    }

    pub(super) const fn method(self) -> Method {
        match self {
            Self::List | Self::One | Self::Attempts => Method::GET,
            Self::Create
            | Self::Update
            | Self::RotateSecret
            | Self::Delete
            | Self::Test
            | Self::Redeliver => Method::POST,
        }
    }

    pub(super) const fn query_parameters(self) -> &'static [&'static str] {
        match self {
            Self::Attempts => &["cursor", "limit"],
            Self::List
            | Self::Create
            | Self::One
            | Self::Update
            | Self::RotateSecret
            | Self::Delete
            | Self::Test
            | Self::Redeliver => &[],
        }
    }

    pub(super) const fn permission(self) -> Permission {
        match self {
            Self::List | Self::One | Self::Attempts => Permission::WebhooksRead,
            Self::Create
            | Self::Update
            | Self::RotateSecret
            | Self::Delete
            | Self::Test
            | Self::Redeliver => Permission::WebhooksManage,
        }
    }

    /// The codes that only these calls have.
    pub(super) const fn codes(self) -> &'static [&'static [ErrorCode]] {
        match self {
            Self::List => &[],
            Self::Create => &[&[ErrorCode::MissingField]],
            Self::Redeliver => &[&[ErrorCode::MissingField, ErrorCode::ResourceNotFound]],
            Self::One | Self::Update | Self::RotateSecret | Self::Delete | Self::Test | Self::Attempts => {
                &[&[ErrorCode::ResourceNotFound]]
            }
        }
    }
}
