//! From credentials to a first pair of tokens.

use clock::Monotonic;
use secrecy::{ExposeSecret, SecretString};
use store::{
    StoreError,
    identity::{FamilyOpened, LoginRecord, NewFamily, NewPair, Role, Status, find_login, open_family},
};

use crate::{
    AccessToken, ClientSecret, EntropyError, Identity, RefreshToken, credential, password::Unchecked,
    permission,
};

/// What a client presents to log a user in.
#[derive(Debug, Clone)]
pub struct LoginCredentials {
    pub client_id: String,
    pub client_secret: SecretString,
    pub organisation_code: String,
    pub username: String,
    pub password: SecretString,
}

/// A pair of tokens. This is the only time that they can be read.
#[derive(Debug, Clone)]
pub struct IssuedTokens {
    pub access_token: AccessToken,
    /// How long the access token is good for from now, in seconds.
    pub access_in: u32,
    pub refresh_token: RefreshToken,
    /// Space-separated OAuth scopes.
    pub scope: &'static str,
}

/// Why credentials were not exchanged for tokens.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// Something about the credentials is wrong. What, nobody is told.
    #[error("the credentials are not good")]
    InvalidCredentials,
    /// All the credentials are right; the organisation is suspended.
    #[error("the organisation is suspended")]
    OrganisationSuspended,
    /// Too many are logging in.
    #[error("too many logins are waiting")]
    Busy,
    /// It could not be found out, or not be recorded.
    #[error("the login could not be looked up or recorded")]
    Store(#[from] StoreError),
    /// No token could be made.
    #[error("no token could be made")]
    Entropy(#[from] EntropyError),
    /// The password's check died.
    #[error("the password could not be checked")]
    Unchecked(#[source] tokio::task::JoinError),
}

impl Identity {
    /// Logs a user in: client, then organisation, then user.
    ///
    /// Every refusal of the credentials is the same, costs the same and takes the same time, whatever is wrong
    /// with them.
    pub async fn login(&self, credentials: LoginCredentials) -> Result<IssuedTokens, LoginError> {
        let started = self.clock.monotonic();
        let outcome = self.try_login(credentials).await;
        self.wait_out_refusal(&outcome, started).await;
        outcome
    }

    /// Keeps a refusal until the floor has passed.
    pub(crate) async fn wait_out_refusal(
        &self,
        outcome: &Result<IssuedTokens, LoginError>,
        started: Monotonic,
    ) {
        if let Err(LoginError::InvalidCredentials | LoginError::OrganisationSuspended) = outcome {
            let taken = self.clock.monotonic().elapsed_since(started);
            tokio::time::sleep(self.settings.refusal_floor().saturating_sub(taken)).await;
        }
    }

    async fn try_login(&self, credentials: LoginCredentials) -> Result<IssuedTokens, LoginError> {
        let password = credentials.password.clone();
        let record = self.look_up(credentials).await?;
        // Checked even where there is nothing to check it against: silence would tell as much as an answer.
        let hash = record.as_ref().and_then(|record| record.user.as_ref()).map(|user| &user.password_hash);
        let right =
            self.passwords.check(password, hash.cloned()).await.map_err(|unchecked| match unchecked {
                Unchecked::Busy => LoginError::Busy,
                Unchecked::Lost(source) => LoginError::Unchecked(source),
            })?;
        let admitted = record.filter(|_| right).as_ref().and_then(|record| self.admit(record));
        let admitted = admitted.ok_or(LoginError::InvalidCredentials)?;
        match admitted.organisation_status {
            Status::Active => self.open(admitted).await,
            Status::Suspended => Err(LoginError::OrganisationSuspended),
        }
    }

    /// `None` also for everything of the other world.
    async fn look_up(&self, credentials: LoginCredentials) -> Result<Option<LoginRecord>, LoginError> {
        let environment = self.settings.environment;
        let LoginCredentials { client_id, client_secret, organisation_code, username, .. } = credentials;
        let secret = ClientSecret::parse(client_secret.expose_secret(), environment);
        let Some(secret) = secret else { return Ok(None) };
        let names = [&client_id, &organisation_code, &username];
        if !client_id.starts_with(credential::world(environment))
            || names.into_iter().any(|name| unstorable(name))
        {
            return Ok(None);
        }
        let (store, now) = (&self.store, self.clock.now());
        Ok(find_login(store, client_id, secret.hash(), organisation_code, username, now).await?)
    }

    /// The first three of the four things that must be right; the password is the fourth.
    fn admit(&self, record: &LoginRecord) -> Option<Admitted> {
        let client_secret_id = record.client_secret_id?;
        let (organisation_id, environment, organisation_status) = record.organisation?;
        let user = record.user.as_ref()?;
        let good = environment == self.settings.environment
            && record.client_status == Status::Active
            && user.status == Status::Active;
        good.then_some(Admitted {
            organisation_id,
            organisation_status,
            oauth_client_id: record.oauth_client_id,
            client_secret_id,
            user_id: user.id,
            role: user.role,
        })
    }

    async fn open(&self, admitted: Admitted) -> Result<IssuedTokens, LoginError> {
        let (environment, at) = (self.settings.environment, self.clock.now());
        let access_token = AccessToken::generate(environment, &*self.entropy)?;
        let refresh_token = RefreshToken::generate(environment, &*self.entropy)?;
        let family = NewFamily {
            organisation_id: admitted.organisation_id,
            oauth_client_id: admitted.oauth_client_id,
            user_id: admitted.user_id,
            client_secret_id: admitted.client_secret_id,
            at,
            expires_at: at + self.settings.family_lifetime(),
            first: NewPair {
                access_hash: access_token.hash(),
                access_expires_at: at + self.settings.access_lifetime(),
                refresh_hash: refresh_token.hash(),
                refresh_expires_at: at + self.settings.idle_lifetime(),
            },
        };
        match open_family(&self.store, family).await {
            Ok(FamilyOpened { .. }) => Ok(IssuedTokens {
                access_token,
                access_in: self.settings.access_lifetime_s,
                refresh_token,
                scope: permission::scope(admitted.role),
            }),
            Err(StoreError::Stale { .. }) => Err(LoginError::InvalidCredentials),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether no row can hold this text: Postgres keeps no NUL, and takes the question itself for an error.
pub(crate) fn unstorable(text: &str) -> bool {
    text.contains('\0')
}

/// Credentials of which all but the organisation's standing is known to be right.
#[derive(Clone, Copy)]
struct Admitted {
    organisation_id: i64,
    organisation_status: Status,
    oauth_client_id: i64,
    client_secret_id: i64,
    user_id: i64,
    role: Role,
}
