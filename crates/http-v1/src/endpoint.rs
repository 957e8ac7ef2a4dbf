//! Every endpoint of this surface, once. The routes, the documentation and the tests are all made from this list.

mod batches;
mod codes;
mod webhooks;

pub use batches::BatchCall;
pub use codes::failures;
pub use webhooks::WebhookCall;

use actix_web::http::Method;

use error_codes::ErrorCode;
use identity::Permission;

/// One path with its only method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// Exchanges credentials for tokens.
    Login,
    /// Exchanges a refresh token for new tokens.
    Refresh,
    /// Identifies the caller.
    Me,
    /// The caller's accounts.
    Accounts,
    /// One of the caller's accounts.
    Account,
    /// What the caller can buy.
    Products,
    /// A quote.
    Validate,
    /// A purchase.
    Confirm,
    /// The outcome of a purchase.
    Retry,
    /// The caller's purchases.
    Purchases,
    /// One of the caller's purchases.
    Purchase,
    /// The postings of one of the caller's accounts.
    Statement,
    /// What the caller bought, by day.
    Sales,
    /// The customer's receipt of a purchase.
    Receipt,
    /// The signed proof of how a purchase ended.
    Certificate,
    /// The last tokens of a subscriber.
    LookUp,
    /// The message with the token, once more.
    Message,
    /// What happened to the caller's things.
    Events,
    /// The caller's webhook endpoints.
    Webhooks(WebhookCall),
    /// The caller's batches.
    Batches(BatchCall),
}

/// What a caller needs to be admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Credentials in the body.
    WithCredentials,
    /// An access token.
    WithToken,
    /// An access token whose user has this permission.
    Permitted(Permission),
}

impl Endpoint {
    /// All of them, in the order of the specification (section 4.1), the added ones last.
    pub const ALL: [Self; 34] = [
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
        Self::Statement,
        Self::Sales,
        Self::Receipt,
        Self::Certificate,
        Self::LookUp,
        Self::Message,
        Self::Events,
        Self::Webhooks(WebhookCall::List),
        Self::Webhooks(WebhookCall::Create),
        Self::Webhooks(WebhookCall::One),
        Self::Webhooks(WebhookCall::Update),
        Self::Webhooks(WebhookCall::RotateSecret),
        Self::Webhooks(WebhookCall::Delete),
        Self::Webhooks(WebhookCall::Test),
        Self::Webhooks(WebhookCall::Redeliver),
        Self::Webhooks(WebhookCall::Attempts),
        Self::Batches(BatchCall::List),
        Self::Batches(BatchCall::Create),
        Self::Batches(BatchCall::One),
        Self::Batches(BatchCall::Lines),
        Self::Batches(BatchCall::Pause),
        Self::Batches(BatchCall::Resume),
        Self::Batches(BatchCall::Cancel),
    ];

    /// Its path. A name in braces stands for a value.
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
            Self::Statement => "/public/v1/accounts/{id}/statement",
            Self::Sales => "/public/v1/reports/sales",
            Self::Receipt => "/public/v1/purchases/{id}/receipt",
            Self::Certificate => "/public/v1/purchases/{id}/certificate",
            Self::LookUp => "/public/v1/subscribers/{id}/purchases",
            Self::Message => "/public/v1/purchases/{id}/messages",
            Self::Events => "/public/v1/events",
            Self::Webhooks(call) => call.path(),
            Self::Batches(call) => call.path(),
        }
    }

    /// Its only method.
    pub const fn method(self) -> Method {
        match self {
            Self::Login | Self::Refresh | Self::Validate | Self::Confirm | Self::Retry | Self::Message => {
                Method::POST
            }
            Self::Me
            | Self::Accounts
            | Self::Account
            | Self::Products
            | Self::Purchases
            | Self::Purchase
            | Self::Statement
            | Self::Sales
            | Self::Receipt
            | Self::Certificate
            | Self::LookUp
            | Self::Events => Method::GET,
            Self::Webhooks(call) => call.method(),
            Self::Batches(call) => call.method(),
        }
    }

    /// The names of its query parameters. Any other is refused.
    pub const fn query_parameters(self) -> &'static [&'static str] {
        match self {
            Self::Purchases => {
                &["external_reference", "subscriber_identifier", "status", "from", "to", "cursor", "limit"]
            }
            Self::Statement => &["from", "to", "cursor", "limit", "format"],
            Self::Sales => &["from", "to", "format"],
            Self::LookUp => &["limit"],
            Self::Receipt => &["format", "language", "columns", "code_page"],
            Self::Events => &["types", "cursor", "limit", "wait"],
            Self::Login
            | Self::Refresh
            | Self::Me
            | Self::Accounts
            | Self::Account
            | Self::Products
            | Self::Validate
            | Self::Confirm
            | Self::Retry
            | Self::Purchase
            | Self::Certificate
            | Self::Message => &[],
            Self::Webhooks(call) => call.query_parameters(),
            Self::Batches(call) => call.query_parameters(),
        }
    }

    /// What a caller needs to be admitted.
    pub const fn access(self) -> Access {
        match self {
            Self::Login | Self::Refresh => Access::WithCredentials,
            Self::Me => Access::WithToken,
            // What a statement adds to a balance is how it came about, and every role that reads one may read the other.
            Self::Accounts | Self::Account | Self::Statement => Access::Permitted(Permission::AccountsRead),
            Self::Products => Access::Permitted(Permission::ProductsRead),
            Self::Validate => Access::Permitted(Permission::PurchasesValidate),
            Self::Confirm => Access::Permitted(Permission::PurchasesConfirm),
            Self::Retry => Access::Permitted(Permission::PurchasesRetry),
            Self::Message => Access::Permitted(Permission::MessagesSend),
            Self::LookUp => Access::Permitted(Permission::SubscribersRead),
            // Most events are about purchases. Every role that reads purchases may read everything else that an event shows.
            Self::Purchases
            | Self::Purchase
            | Self::Sales
            | Self::Receipt
            | Self::Certificate
            | Self::Events => Access::Permitted(Permission::PurchasesRead),
            Self::Webhooks(call) => Access::Permitted(call.permission()),
            Self::Batches(call) => Access::Permitted(call.permission()),
        }
    }

    /// The permission that it requires, if any.
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

    /// The HTTP status with which it answers a code. Only the documents and the tests use this. The status of an
    /// answer itself comes from its [`ApiError`](web::ApiError).
    pub fn status(self, code: ErrorCode) -> u16 {
        codes::status(self, code)
    }
}
