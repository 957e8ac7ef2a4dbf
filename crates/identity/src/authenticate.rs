//! From an access token to its caller.

use std::sync::Arc;

use store::{
    StoreError,
    identity::{CallerRecord, Status, find_caller},
};

use crate::{AccessToken, Caller, Identity};

/// Why a request has no caller.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The token is malformed, unknown, expired, revoked, of the other world, or its client or user is suspended.
    #[error("the access token is not good")]
    InvalidToken,
    /// The token is good; its organisation is suspended.
    #[error("the organisation is suspended")]
    OrganisationSuspended,
    /// The database is too busy with others, or away for the moment.
    #[error("the access token could not be looked up just now")]
    Busy(#[source] StoreError),
    /// It could not be found out.
    #[error("the access token could not be looked up")]
    Store(#[source] StoreError),
}

impl From<StoreError> for AuthError {
    fn from(error: StoreError) -> Self {
        if error.may_pass() { Self::Busy(error) } else { Self::Store(error) }
    }
}

impl Identity {
    /// Finds the holder of an access token.
    ///
    /// A caller is remembered for up to five seconds, so a revocation may take as long to show here. Where money
    /// moves it holds at once, because the reserve asks again.
    pub async fn authenticate(&self, access_token: &str) -> Result<Arc<Caller>, AuthError> {
        let token = AccessToken::parse(access_token, self.settings.environment);
        let hash = token.ok_or(AuthError::InvalidToken)?.hash();
        let asked = self.clock.monotonic();
        if let Some(caller) = self.callers.recall(hash, self.clock.now(), asked) {
            return Ok(caller);
        }
        let record = find_caller(&self.store, hash).await?.ok_or(AuthError::InvalidToken)?;
        self.admit_caller(&record)?;
        let (family_id, expires_at) = (record.family_id, record.expires_at);
        let caller = Arc::new(Caller::from(record));
        self.callers.remember(hash, &caller, family_id, expires_at, asked);
        Ok(caller)
    }

    fn admit_caller(&self, record: &CallerRecord) -> Result<(), AuthError> {
        let good = record.revoked_at.is_none()
            && self.clock.now() < record.expires_at
            && record.environment == self.settings.environment
            && record.client_status == Status::Active
            && record.user_status == Status::Active;
        match record.organisation_status {
            _ if !good => Err(AuthError::InvalidToken),
            Status::Active => Ok(()),
            Status::Suspended => Err(AuthError::OrganisationSuspended),
        }
    }
}
