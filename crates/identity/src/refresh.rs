//! Exchanges a refresh token for the next pair of tokens.

use chrono::TimeDelta;
use directory::{Environment, Exchange, Exchanged, Proof, exchange};
use secrecy::{ExposeSecret, SecretString};

use crate::{
    AccessToken, ClientSecret, Identity, IssuedTokens, LoginError, RefreshToken, login::unstorable,
    permission,
};

/// What a client presents to get its next pair of tokens.
#[derive(Debug, Clone)]
pub struct RefreshCredentials {
    pub client: ClientProof,
    pub refresh_token: SecretString,
}

/// How a client proves its identity.
#[derive(Debug, Clone)]
pub enum ClientProof {
    /// By its secret (RFC 6749, section 2.3.1).
    Secret { client_id: String, client_secret: SecretString },
    /// By an access token of the session that is to be refreshed. An expired or revoked one proves nothing. A client id
    /// that is given with it must be the session's own.
    AccessToken { client_id: Option<String>, access_token: SecretString },
}

impl ClientProof {
    /// The form in which the store searches it. `None` if it cannot be found.
    fn to_look_for(&self, environment: Environment) -> Option<Proof> {
        match self {
            Self::Secret { client_id, client_secret } => {
                let secret = ClientSecret::parse(client_secret.expose_secret(), environment)?;
                let proof = Proof::Secret { client_id: client_id.clone(), secret_hash: secret.hash() };
                (!unstorable(client_id)).then_some(proof)
            }
            Self::AccessToken { client_id, access_token } => {
                let token = AccessToken::parse(access_token.expose_secret(), environment)?;
                let proof = Proof::AccessToken { client_id: client_id.clone(), access_hash: token.hash() };
                (!client_id.as_deref().is_some_and(unstorable)).then_some(proof)
            }
        }
    }
}

impl Identity {
    /// Exchanges a refresh token for the next pair.
    ///
    /// A refresh may be repeated with the same token, because an answer can get lost. It then gives the same pair, for
    /// 60 seconds and until the new refresh token is used. If the token is presented later, two parties have it, and
    /// everything that was ever refreshed from the same login is revoked.
    pub async fn refresh(&self, credentials: RefreshCredentials) -> Result<IssuedTokens, LoginError> {
        let started = self.clock.monotonic();
        let outcome = self.try_refresh(credentials).await;
        self.wait_out_refusal(&outcome, started).await;
        outcome
    }

    async fn try_refresh(&self, credentials: RefreshCredentials) -> Result<IssuedTokens, LoginError> {
        let environment = self.settings.environment;
        let proof = credentials.client.to_look_for(environment);
        let presented = RefreshToken::parse(credentials.refresh_token.expose_secret(), environment);
        let (Some(proof), Some(presented)) = (proof, presented) else {
            return Err(LoginError::InvalidCredentials);
        };
        let (access_token, refresh_token) = self.successor_key.successors(&presented, environment);
        let at = self.clock.now();
        let wanted = Exchange {
            proof,
            presented: presented.hash(),
            access_hash: access_token.hash(),
            refresh_hash: refresh_token.hash(),
            at,
            access_lifetime: self.settings.access_lifetime(),
            idle_lifetime: self.settings.idle_lifetime(),
            grace: self.settings.grace(),
        };
        match exchange(&self.database, wanted).await? {
            Exchanged::Pair { access_expires_at, role } => {
                let left = access_expires_at - at;
                Ok(issued(access_token, refresh_token, left, permission::scope(role)))
            }
            Exchanged::OrganisationSuspended => Err(LoginError::OrganisationSuspended),
            Exchanged::Refused => Err(LoginError::InvalidCredentials),
            Exchanged::Reused { family_id } => {
                self.callers.forget_family(family_id);
                tracing::error!(family_id, "a refresh token was used by two parties; its family is revoked");
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
