//! From a refresh token to the next pair.

use chrono::TimeDelta;
use secrecy::{ExposeSecret, SecretString};
use store::identity::{Exchange, Exchanged, exchange};

use crate::{
    AccessToken, ClientSecret, Identity, IssuedTokens, LoginError, RefreshToken, login::unstorable,
    permission,
};

/// What a client presents to get its next pair of tokens.
#[derive(Debug, Clone)]
pub struct RefreshCredentials {
    pub client_id: String,
    pub client_secret: SecretString,
    pub refresh_token: SecretString,
}

impl Identity {
    /// Exchanges a refresh token for the next pair.
    ///
    /// It may be repeated with the same token, and gives the same pair, for 60 seconds and until the new refresh
    /// token is used: an answer can get lost. Presented later, the token is in two hands, and everything that
    /// was ever refreshed from the same login is revoked.
    pub async fn refresh(&self, credentials: RefreshCredentials) -> Result<IssuedTokens, LoginError> {
        let started = self.clock.monotonic();
        let outcome = self.try_refresh(credentials).await;
        self.wait_out_refusal(&outcome, started).await;
        outcome
    }

    async fn try_refresh(&self, credentials: RefreshCredentials) -> Result<IssuedTokens, LoginError> {
        let environment = self.settings.environment;
        let secret = ClientSecret::parse(credentials.client_secret.expose_secret(), environment);
        let presented = RefreshToken::parse(credentials.refresh_token.expose_secret(), environment);
        let (Some(secret), Some(presented)) = (secret, presented) else {
            return Err(LoginError::InvalidCredentials);
        };
        if unstorable(&credentials.client_id) {
            return Err(LoginError::InvalidCredentials);
        }
        let (access_token, refresh_token) = self.successor_key.successors(&presented, environment);
        let at = self.clock.now();
        let wanted = Exchange {
            client_id: credentials.client_id,
            secret_hash: secret.hash(),
            presented: presented.hash(),
            access_hash: access_token.hash(),
            refresh_hash: refresh_token.hash(),
            at,
            access_lifetime: self.settings.access_lifetime(),
            idle_lifetime: self.settings.idle_lifetime(),
            grace: self.settings.grace(),
        };
        match exchange(&self.store, wanted).await? {
            Exchanged::Pair { access_expires_at, role } => {
                let left = access_expires_at - at;
                Ok(issued(access_token, refresh_token, left, permission::scope(role)))
            }
            Exchanged::OrganisationSuspended => Err(LoginError::OrganisationSuspended),
            Exchanged::Refused => Err(LoginError::InvalidCredentials),
            Exchanged::Reused { family_id } => {
                self.callers.forget_family(family_id);
                tracing::error!(family_id, "a refresh token is in two hands; its family is revoked");
                Err(LoginError::InvalidCredentials)
            }
        }
    }
}

fn issued(
    access_token: AccessToken,
    refresh_token: RefreshToken,
    left: TimeDelta,
    scope: &'static str,
) -> IssuedTokens {
    let access_in = u32::try_from(left.num_seconds()).unwrap_or_default();
    IssuedTokens { access_token, access_in, refresh_token, scope }
}
