//! Every endpoint of this surface, once: what serves it, what documents it and what tests it all begin here.

mod codes;

use actix_web::http::Method;

use error_codes::ErrorCode;
use identity::Permission;

/// One path with its one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// Credentials for tokens.
    Login,
    /// A refresh token for new tokens.
    Refresh,
    /// Who the caller is.
    Me,
    /// The caller's accounts.
    Accounts,
    /// One of them.
    Account,
    /// What the caller can buy.
    Products,
    /// A quote.
    Validate,
    /// A purchase.
    Confirm,
    /// What became of a purchase.
    Retry,
    /// The caller's purchases.
    Purchases,
    /// One of them.
    Purchase,
}

/// Who may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever brings credentials in the body.
    WithCredentials,
    /// Whoever holds an access token.
    WithToken,
    /// Whoever holds an access token and has this permission.
    Permitted(Permission),
}

impl Endpoint {
    /// All of them, in the order of the specification (section 4.1), the added ones last.
    pub const ALL: [Self; 11] = [
        Self::Login,
        Self::Refresh,
        Self::Me,
        Self::Accounts,
        Self::Account,
        Self::Products,
        Self::Validate,
        Self::Confirm,
        Self::Retry,
        Self::Purchases,
        Self::Purchase,
    ];

    /// Its path; what stands in braces is a value.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Login => "/public/v1/auth/login",
            Self::Refresh => "/public/v1/auth/refresh",
            Self::Me => "/public/v1/auth/me",
            Self::Accounts => "/public/v1/accounts",
            Self::Account => "/public/v1/accounts/{id}",
            Self::Products => "/public/v1/vas-products",
            Self::Validate => "/public/v1/purchases/validate",
            Self::Confirm => "/public/v1/purchases/confirm",
            Self::Retry => "/public/v1/purchases/retry",
            Self::Purchases => "/public/v1/purchases",
            Self::Purchase => "/public/v1/purchases/{id}",
        }
    }

    /// Its one method.
    pub const fn method(self) -> Method {
        match self {
            Self::Login | Self::Refresh | Self::Validate | Self::Confirm | Self::Retry => Method::POST,
            Self::Me | Self::Accounts | Self::Account | Self::Products | Self::Purchases | Self::Purchase => {
                Method::GET
            }
        }
    }

    /// Who may come in.
    pub const fn access(self) -> Access {
        match self {
            Self::Login | Self::Refresh => Access::WithCredentials,
            Self::Me => Access::WithToken,
            Self::Accounts | Self::Account => Access::Permitted(Permission::AccountsRead),
            Self::Products => Access::Permitted(Permission::ProductsRead),
            Self::Validate => Access::Permitted(Permission::PurchasesValidate),
            Self::Confirm => Access::Permitted(Permission::PurchasesConfirm),
            Self::Retry => Access::Permitted(Permission::PurchasesRetry),
            Self::Purchases | Self::Purchase => Access::Permitted(Permission::PurchasesRead),
        }
    }

    /// The permission that it asks for, if any.
    pub const fn permission(self) -> Option<Permission> {
        match self.access() {
            Access::Permitted(permission) => Some(permission),
            Access::WithCredentials | Access::WithToken => None,
        }
    }

    /// Every code that it can answer, in the order of the error table.
    pub fn codes(self) -> Vec<ErrorCode> {
        codes::of(self)
    }

    /// The HTTP status with which it answers a code.
    pub fn status(self, code: ErrorCode) -> u16 {
        codes::status(self, code)
    }
}
