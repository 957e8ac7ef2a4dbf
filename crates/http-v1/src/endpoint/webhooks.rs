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
        }
    }

    pub(super) const fn method(self) -> Method {
        match self {
            Self::List | Self::One => Method::GET,
            Self::Create | Self::Update | Self::RotateSecret | Self::Delete => Method::POST,
        }
    }

    pub(super) const fn permission(self) -> Permission {
        match self {
            Self::List | Self::One => Permission::WebhooksRead,
            Self::Create | Self::Update | Self::RotateSecret | Self::Delete => Permission::WebhooksManage,
        }
    }

    /// The codes that only these calls have.
    pub(super) const fn codes(self) -> &'static [&'static [ErrorCode]] {
        match self {
            Self::List => &[],
            Self::Create => &[&[ErrorCode::MissingField]],
            Self::One | Self::Update | Self::RotateSecret | Self::Delete => &[&[ErrorCode::ResourceNotFound]],
        }
    }
}
