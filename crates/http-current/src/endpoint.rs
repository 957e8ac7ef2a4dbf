//! Every endpoint of this surface, once. There will be no other.

use actix_web::http::Method;

use identity::Permission;

/// One path with its one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// Credentials for tokens.
    Login,
    /// A refresh token for new tokens.
    Refresh,
    /// Who the caller is, and the caller's accounts.
    Me,
    /// A quote.
    Validate,
    /// A purchase.
    Confirm,
    /// What became of a purchase.
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

    /// Its one method.
    pub const fn method(self) -> Method {
        match self {
            Self::Login | Self::Refresh | Self::Validate | Self::Confirm | Self::Retry => Method::POST,
            Self::Me => Method::GET,
        }
    }

    /// What the holder of an access token must be allowed to do; none where credentials are brought in the body.
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
