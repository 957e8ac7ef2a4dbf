//! The codes that each endpoint can answer. The documented answers are made from this table, and the tests compare it
//! with the real answers.

use error_codes::ErrorCode;
use identity::{Permission, Role};

use super::{Access, Endpoint};

/// Codes that any request can get.
const ANY_REQUEST: &[ErrorCode] =
    // For example because its head is too large.
    &[
        ErrorCode::InvalidArgument,
        ErrorCode::MethodNotAllowed,
        ErrorCode::RateLimited,
        ErrorCode::InternalError,
    ];

/// Codes of a request that must be authenticated. The organisation may be suspended.
const AUTHENTICATED: &[ErrorCode] = &[ErrorCode::InvalidCredentials, ErrorCode::Forbidden];

/// Codes of a request with a body.
const WITH_BODY: &[ErrorCode] = &[ErrorCode::MissingField];

/// Codes of a purchase that is read, priced and checked with the provider.
const PRICED: &[ErrorCode] = &[
    ErrorCode::MeterNotAllowed,
    ErrorCode::InvalidMsisdn,
    ErrorCode::InvalidAmount,
    ErrorCode::AmountBelowCharges,
    // The account does not exist.
    ErrorCode::ResourceNotFound,
];

/// A provider's refusals, for the request that caused them and for later requests.
const REFUSED: &[ErrorCode] = &[
    ErrorCode::InvalidMeterNumber,
    ErrorCode::AmountBelowMinimum,
    ErrorCode::AmountAboveMaximum,
    ErrorCode::MeterNotFound,
    ErrorCode::DuplicateRequest,
    ErrorCode::MeterBlocked,
    ErrorCode::MeterUnsupported,
    ErrorCode::ProviderBusy,
    ErrorCode::ProviderError,
    ErrorCode::UpstreamError,
];

/// The provider could not be used.
const NOT_REACHED: &[ErrorCode] = &[ErrorCode::MerchantCreditExhausted, ErrorCode::ProviderUnavailable];

/// Every code of a purchase that has failed.
pub fn failures() -> Vec<ErrorCode> {
    [REFUSED, NOT_REACHED].into_iter().flatten().copied().collect()
}

/// The outcome is not known yet.
const OPEN: &[ErrorCode] = &[ErrorCode::TransactionPending, ErrorCode::ProviderTimeout];

const fn own(endpoint: Endpoint) -> &'static [&'static [ErrorCode]] {
    match endpoint {
        Endpoint::Login | Endpoint::Refresh => &[WITH_BODY],
        Endpoint::Me
        | Endpoint::Accounts
        | Endpoint::Products
        | Endpoint::Purchases
        | Endpoint::Sales
        | Endpoint::LookUp
        | Endpoint::Events => &[],
        Endpoint::Account | Endpoint::Statement => &[&[ErrorCode::ResourceNotFound]],
        // The purchase is open, so nothing is sold yet.
        Endpoint::Receipt => {
            &[&[ErrorCode::ResourceNotFound, ErrorCode::TransactionPending, ErrorCode::ProviderTimeout]]
        }
        Endpoint::Certificate => &[&[
            ErrorCode::ResourceNotFound,
            ErrorCode::TransactionPending,
            ErrorCode::ProviderTimeout,
            ErrorCode::CertificatesDisabled,
        ]],
        Endpoint::Message => &[
            WITH_BODY,
            &[
                ErrorCode::InvalidMsisdn,
                ErrorCode::ResourceNotFound,
                ErrorCode::TransactionPending,
                ErrorCode::ProviderTimeout,
            ],
        ],
        Endpoint::Webhooks(call) => call.codes(),
        Endpoint::Batches(call) => call.codes(),
        // A stored token that cannot be decrypted.
        Endpoint::Purchase => &[&[ErrorCode::ResourceNotFound, ErrorCode::ProviderTimeout]],
        Endpoint::Validate => &[WITH_BODY, PRICED, REFUSED, NOT_REACHED, &[ErrorCode::ProviderTimeout]],
        Endpoint::Confirm => {
            &[WITH_BODY, PRICED, REFUSED, NOT_REACHED, OPEN, &[ErrorCode::InsufficientBalance]]
        }
        Endpoint::Retry => &[
            WITH_BODY,
            REFUSED,
            NOT_REACHED,
            OPEN,
            &[ErrorCode::TransactionNotFound, ErrorCode::RetriesDisabled],
        ],
    }
}

/// Whether an authenticated caller may lack the permission, in any of the existing roles.
fn is_lacking_to_some(access: Access) -> bool {
    match access {
        Access::Permitted(permission) => [Role::Integrator, Role::Viewer]
            .into_iter()
            .any(|role| !Permission::of(role).contains(&permission)),
        Access::WithCredentials | Access::WithToken => false,
    }
}

/// The status with which an endpoint answers a code. Retry answers with failures that are final.
pub(super) fn status(endpoint: Endpoint, code: ErrorCode) -> u16 {
    if endpoint == Endpoint::Retry && NOT_REACHED.contains(&code) {
        code.status_answered_later()
    } else {
        code.status()
    }
}

/// Every code of an endpoint, in the order of the error table.
pub(super) fn of(endpoint: Endpoint) -> Vec<ErrorCode> {
    let lacking: &[ErrorCode] =
        if is_lacking_to_some(endpoint.access()) { &[ErrorCode::MissingPermission] } else { &[] };
    let groups = own(endpoint).iter().copied().chain([ANY_REQUEST, AUTHENTICATED, lacking]);
    let declared: Vec<ErrorCode> = groups.flatten().copied().collect();
    ErrorCode::ALL.into_iter().filter(|code| declared.contains(code)).collect()
}
