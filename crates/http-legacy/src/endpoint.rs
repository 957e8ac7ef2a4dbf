//! Every endpoint of this surface, once. No endpoint will be added.

use actix_web::http::Method;

use identity::Permission;

/// One path with its only method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// Exchanges credentials for tokens.
    Login,
    /// Exchanges a refresh token for new tokens.
    Refresh,
    /// Identifies the caller and lists the caller's accounts.
    Me,
    /// A quote.
    Validate,
    /// A purchase.
    Confirm,
    /// The outcome of a purchase.
    Retry,
}

impl Endpoint {
    /// All of them, in the order of the specification (sections 5 and 4.2).
    pub const ALL: [Self; 6] =
        [Self::Login, Self::Refresh, Self::Me, Self::Validate, Self::Confirm, Self::Retry];

    /// Its path.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Login => "/auth/login",
            Self::Refresh => "/auth/refresh",
            Self::Me => "/auth/me",
            Self::Validate => "/api/topup/validate",
            Self::Confirm => "/api/topup/confirm",
            Self::Retry => "/api/topup/retry",
        }
    }

    /// Its only method.
    pub const fn method(self) -> Method {
        match self {
            Self::Login | Self::Refresh | Self::Validate | Self::Confirm | Self::Retry => Method::POST,
            Self::Me => Method::GET,
        }
    }

    /// The permission that the holder of an access token needs. `None` where the credentials are in the body.
    pub const fn permission(self) -> Option<Permission> {
        match self {
            Self::Login | Self::Refresh => None,
            Self::Me => Some(Permission::AccountsRead),
            Self::Validate => Some(Permission::PurchasesValidate),
            Self::Confirm => Some(Permission::PurchasesConfirm),
            Self::Retry => Some(Permission::PurchasesRetry),
        }
    }
}
