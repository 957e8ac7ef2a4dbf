//! In whose name a purchase is made: ids only, checked again where money moves.

/// An organisation's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrganisationId(pub i64);

/// An OAuth client's number (not its public `client_id`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub i64);

/// An integration user's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserId(pub i64);

/// An access token's number (not the token).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessTokenId(pub i64);

/// Who acts. Made from an authenticated caller; the reserve checks again that all four are live, for
/// revocation and not for expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Authority {
    /// Whose wallet.
    pub organisation: OrganisationId,
    /// Through which OAuth client.
    pub client: ClientId,
    /// As which integration user.
    pub user: UserId,
    /// Under which access token.
    pub access_token: AccessTokenId,
}
