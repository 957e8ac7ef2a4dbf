//! The identity under which a purchase is made: ids only, checked again where money moves.

/// An organisation's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrganisationId(pub i64);

/// The number of a client program (not the name under which it logs in).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub i64);

/// An integration user's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserId(pub i64);

/// An access token's number (not the token).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessTokenId(pub i64);

/// The identity of the caller, made from an authenticated caller. The reserve checks again that none of the four is
/// revoked. It does not check expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Authority {
    /// The organisation whose wallet is used.
    pub organisation: OrganisationId,
    /// The client program that sent the request.
    pub client: ClientId,
    /// The integration user of the request.
    pub user: UserId,
    /// The access token of the request.
    pub access_token: AccessTokenId,
}
