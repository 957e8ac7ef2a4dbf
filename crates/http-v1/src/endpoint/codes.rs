//! Which endpoint can answer which code. The documented answers are made from this table, and the tests
//! compare it with what is really answered.

use error_codes::ErrorCode;
use identity::{Permission, Role};

use super::{Access, Endpoint};

/// Whoever asks for anything.
const ANYBODY: &[ErrorCode] =
    // A head that is too large.
    &[
        ErrorCode::InvalidArgument,
        ErrorCode::MethodNotAllowed,
        ErrorCode::RateLimited,
        ErrorCode::InternalError,
    ];

/// Whoever must be known. The organisation may be suspended.
const KNOWN: &[ErrorCode] = &[ErrorCode::InvalidCredentials, ErrorCode::Forbidden];

/// Whoever sends a body.
const WITH_BODY: &[ErrorCode] = &[ErrorCode::MissingField];

/// A purchase that is read, priced and checked with the provider.
const PRICED: &[ErrorCode] = &[
    ErrorCode::MeterNotAllowed,
    ErrorCode::InvalidMsisdn,
    ErrorCode::InvalidAmount,
    ErrorCode::AmountBelowCharges,
    // The account.
    ErrorCode::ResourceNotFound,
];

/// What a provider says no with, to whoever asks it and to whoever asks later.
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

/// What stands between us and a provider.
const NOT_REACHED: &[ErrorCode] = &[ErrorCode::MerchantCreditExhausted, ErrorCode::ProviderUnavailable];

/// Nobody knows yet.
const OPEN: &[ErrorCode] = &[ErrorCode::TransactionPending, ErrorCode::ProviderTimeout];

const fn own(endpoint: Endpoint) -> &'static [&'static [ErrorCode]] {
    match endpoint {
        Endpoint::Login | Endpoint::Refresh => &[WITH_BODY],
        Endpoint::Me | Endpoint::Accounts | Endpoint::Products | Endpoint::Purchases => &[],
        Endpoint::Account => &[&[ErrorCode::ResourceNotFound]],
        // A token that cannot be opened.
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

/// Whether somebody who is known may still not come in, by the roles that there are.
fn is_lacking_to_some(access: Access) -> bool {
    match access {
        Access::Permitted(permission) => [Role::Integrator, Role::Viewer]
            .into_iter()
            .any(|role| !Permission::of(role).contains(&permission)),
        Access::WithCredentials | Access::WithToken => false,
    }
}

/// The status with which an endpoint answers a code. Retry tells of failures that are final.
pub(super) fn status(endpoint: Endpoint, code: ErrorCode) -> u16 {
    if endpoint == Endpoint::Retry && NOT_REACHED.contains(&code) {
        code.status_told_later()
    } else {
        code.status()
    }
}

/// Every code of an endpoint, in the order of the error table.
pub(super) fn of(endpoint: Endpoint) -> Vec<ErrorCode> {
    let lacking: &[ErrorCode] =
        if is_lacking_to_some(endpoint.access()) { &[ErrorCode::MissingPermission] } else { &[] };
    let groups = own(endpoint).iter().copied().chain([ANYBODY, KNOWN, lacking]);
    let declared: Vec<ErrorCode> = groups.flatten().copied().collect();
    ErrorCode::ALL.into_iter().filter(|code| declared.contains(code)).collect()
}
