//! Finds the caller of an access token.

use std::sync::Arc;

use database::DatabaseError;
use directory::{CallerRecord, Status, find_caller};

use crate::{AccessToken, Caller, Identity, callers::Memory};

/// What is known about a presented access token before the database is asked.
#[derive(Debug)]
pub enum Recalled {
    /// Its holder, who was looked up within the last seconds.
    Caller(Arc<Caller>),
    /// It was valid some time ago and must be looked up again.
    Familiar(AccessToken),
    /// It may be valid. A caller that presents many of these is guessing.
    Unknown(AccessToken),
    /// It is not valid: malformed, of the other environment, or recently found to be unknown, expired or revoked.
    Refused,
}

/// Why a request has no caller.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The token is malformed, unknown, expired, revoked, or of the other environment. Or its client or user is
    /// suspended.
    #[error("the access token is not good")]
    InvalidToken,
    /// The token is valid, but its organisation is suspended.
    #[error("the organisation is suspended")]
    OrganisationSuspended,
    /// The database is overloaded or temporarily not reachable.
    #[error("the access token could not be looked up just now")]
    Busy(#[source] DatabaseError),
    /// The look-up failed.
    #[error("the access token could not be looked up")]
    Database(#[source] DatabaseError),
}

impl From<DatabaseError> for AuthError {
    fn from(error: DatabaseError) -> Self {
        if error.may_pass() { Self::Busy(error) } else { Self::Database(error) }
    }
}

impl Identity {
    /// Finds the holder of an access token.
    ///
    /// A caller is remembered for up to five seconds, so a revocation may take that long to have an effect here. Where
    /// money moves it has an effect at once, because the reserve checks again.
    pub async fn authenticate(&self, access_token: &str) -> Result<Arc<Caller>, AuthError> {
        match self.recall(access_token) {
            Recalled::Caller(caller) => Ok(caller),
            Recalled::Familiar(token) | Recalled::Unknown(token) => self.look_up_caller(&token).await,
            Recalled::Refused => Err(AuthError::InvalidToken),
        }
    }

    /// The first half of [`Identity::authenticate`]. It does not use the database, so that a caller of this function
    /// can count a request before the look-up.
    pub fn recall(&self, access_token: &str) -> Recalled {
        let Some(token) = AccessToken::parse(access_token, self.settings.environment) else {
            return Recalled::Refused;
        };
        let (hash, asked) = (token.hash(), self.clock.monotonic());
        match self.callers.recall(hash, self.clock.now(), asked) {
            Memory::Caller(caller) => Recalled::Caller(caller),
            Memory::Faded => Recalled::Familiar(token),
            Memory::None if self.refused.contains(hash, asked) => Recalled::Refused,
            Memory::None => Recalled::Unknown(token),
        }
    }

    /// The second half: asks the database and remembers the result.
    pub async fn look_up_caller(&self, token: &AccessToken) -> Result<Arc<Caller>, AuthError> {
        let (hash, asked) = (token.hash(), self.clock.monotonic());
        let record = find_caller(&self.database, hash).await?;
        let Some(record) = record.filter(|record| self.is_alive(record)) else {
            self.callers.forget(hash);
            self.refused.remember(hash, asked);
            return Err(AuthError::InvalidToken);
        };
        // A suspended party is looked up again each time, like a token that has not been seen.
        self.admit_caller(&record).inspect_err(|_| self.callers.forget(hash))?;
        let (family_id, expires_at) = (record.family_id, record.expires_at);
        let caller = Arc::new(Caller::from(record));
        self.callers.remember(hash, &caller, family_id, expires_at, asked);
        Ok(caller)
    }

    /// Whether the token is neither revoked nor expired. Both are permanent.
    fn is_alive(&self, record: &CallerRecord) -> bool {
        record.revoked_at.is_none() && self.clock.now() < record.expires_at
    }

    fn admit_caller(&self, record: &CallerRecord) -> Result<(), AuthError> {
        let good = record.environment == self.settings.environment
            && record.client_status == Status::Active
            && record.user_status == Status::Active;
        match record.organisation_status {
            _ if !good => Err(AuthError::InvalidToken),
            Status::Active => Ok(()),
            Status::Suspended => Err(AuthError::OrganisationSuspended),
        }
    }
}
