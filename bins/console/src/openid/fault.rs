//! Why a person is not signed in, in words for the log. No text of the library is repeated, because it may quote a token.

use std::{error::Error, iter};

use identity::EntropyError;
use openidconnect::{
    ClaimsVerificationError, DiscoveryError, RequestTokenError, SignatureVerificationError,
    core::{CoreErrorResponseType, CoreRequestTokenError},
};

use super::http::HttpError;

/// The client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OpenIdError {
    /// An address of the settings is none.
    #[error("openid.issuer or console.public_url is no address")]
    Address(#[from] openidconnect::url::ParseError),
    /// The HTTP client cannot be made, because the machine's certificate authorities cannot be read.
    #[error("the HTTP client cannot be made")]
    Client(#[from] reqwest::Error),
}

/// Why a person is not signed in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignInError {
    /// The provider cannot be used.
    #[error("the OpenID provider cannot be used: {0}")]
    Provider(#[from] ProviderFault),
    /// The provider or the person has declined.
    #[error("the OpenID provider has not signed the person in: {0}")]
    Declined(&'static str),
    /// The browser has begun no such sign-in, or too long ago.
    #[error("the browser has not begun this sign-in, or too long ago")]
    NotBegun,
    /// The ID token does not prove who the person is.
    #[error("the ID token is refused: {0}")]
    Token(#[from] TokenFault),
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// Why the provider cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderFault {
    /// It did not answer.
    #[error("{0}")]
    Http(String),
    /// It could not be used a moment ago.
    #[error("it could not be used some seconds ago, and is asked again soon")]
    Resting,
    /// It answered another status than 200.
    #[error("it answers {0}; is openid.issuer right?")]
    Status(u16),
    /// It answered something else than was asked.
    #[error("its answer cannot be read; is openid.issuer right?")]
    Unreadable,
    /// It is another provider than that of the settings.
    #[error(
        "it names itself by another issuer; openid.issuer must be exactly what it says, also in a slash at the end"
    )]
    OtherIssuer,
    /// Browsers would be sent to an address that others can read.
    #[error("it names an address that is neither HTTPS nor on this machine")]
    NotEncrypted,
    /// It does not exchange codes.
    #[error("it has no token endpoint")]
    NoTokenEndpoint,
    /// It does not know the console.
    #[error("it does not accept openid.client_id and openid.client_secret")]
    ClientRefused,
    /// It does not exchange this code.
    #[error(
        "it does not accept the code: it has expired, was used, or is of another client or redirect address"
    )]
    CodeRefused,
    /// It refuses the exchange for another reason.
    #[error("it refuses to exchange the code")]
    ExchangeRefused,
}

/// Why an ID token does not prove who the person is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenFault {
    #[error("there is none; does the client have the scope openid?")]
    Absent,
    #[error("it is of another issuer")]
    Issuer,
    #[error("it is for another client, or for others too")]
    Audience,
    #[error("no key of the provider has its id")]
    UnknownKey,
    #[error("its signature is not of the provider, or of a kind that is not accepted")]
    Signature,
    #[error("it has expired or is issued in the future; are the clocks right?")]
    Time,
    #[error("it is of another sign-in")]
    Nonce,
    #[error("it cannot be read")]
    Malformed,
}

impl ProviderFault {
    pub(super) fn of_discovery(error: &DiscoveryError<HttpError>) -> Self {
        match error {
            DiscoveryError::Request(error) => Self::of_http(error),
            DiscoveryError::Response(status, ..) => Self::Status(status.as_u16()),
            DiscoveryError::Validation(_) => Self::OtherIssuer,
            DiscoveryError::Parse(_) | DiscoveryError::UrlParse(_) | DiscoveryError::Other(_) | _ => {
                Self::Unreadable
            }
        }
    }

    pub(super) fn of_exchange(error: &CoreRequestTokenError<HttpError>) -> Self {
        match error {
            RequestTokenError::Request(error) => Self::of_http(error),
            RequestTokenError::ServerResponse(answer) => match answer.error() {
                CoreErrorResponseType::InvalidClient | CoreErrorResponseType::UnauthorizedClient => {
                    Self::ClientRefused
                }
                CoreErrorResponseType::InvalidGrant => Self::CodeRefused,
                CoreErrorResponseType::InvalidRequest
                | CoreErrorResponseType::InvalidScope
                | CoreErrorResponseType::UnsupportedGrantType
                | CoreErrorResponseType::Extension(_) => Self::ExchangeRefused,
            },
            RequestTokenError::Parse(..) | RequestTokenError::Other(_) => Self::Unreadable,
        }
    }

    fn of_http(error: &HttpError) -> Self {
        let this: &(dyn Error + 'static) = error;
        let causes = iter::successors(Some(this), |&error| error.source());
        Self::Http(causes.map(ToString::to_string).collect::<Vec<_>>().join(": "))
    }
}

impl TokenFault {
    pub(super) const fn of(error: &ClaimsVerificationError) -> Self {
        match error {
            ClaimsVerificationError::Expired(_) | ClaimsVerificationError::InvalidAuthTime(_) => Self::Time,
            ClaimsVerificationError::InvalidAudience(_) => Self::Audience,
            ClaimsVerificationError::InvalidIssuer(_) => Self::Issuer,
            ClaimsVerificationError::InvalidNonce(_) => Self::Nonce,
            ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey) => {
                Self::UnknownKey
            }
            ClaimsVerificationError::SignatureVerification(_) => Self::Signature,
            ClaimsVerificationError::InvalidAuthContext(_)
            | ClaimsVerificationError::InvalidSubject(_)
            | ClaimsVerificationError::Unsupported(_)
            | ClaimsVerificationError::Other(_)
            | _ => Self::Malformed,
        }
    }
}

/// The reasons that a provider gives with the browser (RFC 6749, section 4.1.2.1; OpenID Connect Core 1.0, section 3.1.2.6). Another
/// text is not repeated: anyone can write it into an address.
const REASONS: [&str; 12] = [
    "access_denied",
    "account_selection_required",
    "consent_required",
    "interaction_required",
    "invalid_request",
    "invalid_scope",
    "login_required",
    "request_not_supported",
    "server_error",
    "temporarily_unavailable",
    "unauthorized_client",
    "unsupported_response_type",
];

/// The reason, if it is a known one.
pub(super) fn declined_because(error: &str) -> &'static str {
    REASONS.into_iter().find(|reason| *reason == error).unwrap_or("for another reason")
}
