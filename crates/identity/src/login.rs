//! From credentials to a first pair of tokens.

use std::{hash::Hash, time::Duration};

use clock::Monotonic;
use secrecy::{ExposeSecret, SecretString};
use store::{
    StoreError,
    identity::{
        CredentialHash, FamilyOpened, LoginRecord, NewFamily, NewPair, Role, Status, find_login, open_family,
    },
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

impl LoginCredentials {
    /// All but the password, to be hashed and not to be read: whose password it is to be, and under which secret.
    pub fn claim(&self) -> impl Hash {
        let secret = self.client_secret.expose_secret();
        (&self.client_id, secret, &self.organisation_code, &self.username)
    }
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
    /// Too many are logging in, or the database is too busy with others, or away for the moment.
    #[error("too many logins are waiting")]
    Busy(#[source] Option<StoreError>),
    /// It could not be found out, or not be recorded.
    #[error("the login could not be looked up or recorded")]
    Store(#[source] StoreError),
    /// No token could be made.
    #[error("no token could be made")]
    Entropy(#[from] EntropyError),
    /// The password's check died.
    #[error("the password could not be checked")]
    Unchecked(#[source] tokio::task::JoinError),
}

impl From<StoreError> for LoginError {
    fn from(error: StoreError) -> Self {
        if error.may_pass() { Self::Busy(Some(error)) } else { Self::Store(error) }
    }
}

impl Identity {
    /// Logs a user in: client, then organisation, then user.
    ///
    /// The client secret is checked first, by its SHA-256: it has 256 random bits, so nothing slower is needed (and the
    /// time of a look-up by that hash tells nothing about the secret). Only a client that is proven by it reaches the
    /// password hash; whoever has no such secret can make nobody compute one.
    ///
    /// Every refusal is the same and takes the same time, whatever is wrong with the credentials.
    pub async fn login(&self, credentials: LoginCredentials) -> Result<IssuedTokens, LoginError> {
        let started = self.clock.monotonic();
        let outcome = self.try_login(credentials).await;
        self.wait_out_refusal(&outcome, started).await;
        outcome
    }

    /// Keeps a refusal until the floor has passed, or a whole number of floors: on a machine so busy that the
    /// work itself takes longer, how much longer says little more about it than how busy the machine is.
    ///
    /// All refusals of a proven client cost the same work, and so do all refusals of others, so that the floor has
    /// little to hide among either. What it could fail to hide, on a busy machine, is whether the client was proven:
    /// whoever presents a secret of 256 random bits knows that beforehand.
    ///
    /// The floor is counted from when nothing of the caller's is waited for any more. Counted from the arrival
    /// of the head it could be used up by a body that is sent late, and counted across a delay it would end
    /// at a moment of the caller's choice: either would leave a window through which our work is seen.
    pub(crate) async fn wait_out_refusal(
        &self,
        outcome: &Result<IssuedTokens, LoginError>,
        started: Monotonic,
    ) {
        if let Err(LoginError::InvalidCredentials | LoginError::OrganisationSuspended) = outcome {
            let taken = self.clock.monotonic().elapsed_since(started);
            tokio::time::sleep(left_of_floor(self.settings.refusal_floor(), taken)).await;
        }
    }

    async fn try_login(&self, credentials: LoginCredentials) -> Result<IssuedTokens, LoginError> {
        let password = credentials.password.clone();
        let record = self.look_up(credentials).await?;
        let Some(record) = record.filter(is_proven) else { return Err(LoginError::InvalidCredentials) };
        // Checked even where there is nothing to check it against: silence would tell as much as an answer.
        let hash = record.user.as_ref().map(|user| user.password_hash.clone());
        let checked = self.passwords.check(record.oauth_client_id, password, hash).await;
        let right = checked.map_err(|unchecked| match unchecked {
            Unchecked::Busy => LoginError::Busy(None),
            Unchecked::Lost(source) => LoginError::Unchecked(source),
        })?;
        let admitted = Some(record).filter(|_| right).and_then(|record| self.admit(record));
        let admitted = admitted.ok_or(LoginError::InvalidCredentials)?;
        match admitted.organisation_status {
            Status::Active => self.open(admitted).await,
            Status::Suspended => Err(LoginError::OrganisationSuspended),
        }
    }

    /// `None` also for everything of the other world. What can match nothing is looked up like all the rest,
    /// under names that nobody has.
    async fn look_up(&self, credentials: LoginCredentials) -> Result<Option<LoginRecord>, LoginError> {
        let environment = self.settings.environment;
        let LoginCredentials { client_id, client_secret, organisation_code, username, .. } = credentials;
        let secret = ClientSecret::parse(client_secret.expose_secret(), environment);
        let names = [&client_id, &organisation_code, &username];
        let possible = secret.is_some()
            && client_id.starts_with(credential::world(environment))
            && !names.into_iter().any(|name| unstorable(name));
        let hash = secret.map_or(CredentialHash([0; 32]), |secret| secret.hash());
        let [client_id, organisation_code, username] = [client_id, organisation_code, username]
            .map(|name| if unstorable(&name) { String::new() } else { name });
        let (store, now) = (&self.store, self.clock.now());
        let found = find_login(store, client_id, hash, organisation_code, username, now).await?;
        Ok(found.filter(|_| possible))
    }

    /// Organisation and user of a proven client. The password is checked apart from them.
    fn admit(&self, record: LoginRecord) -> Option<Admitted> {
        let client_secret_id = record.client_secret_id?;
        let (organisation_id, environment, organisation_status) = record.organisation?;
        let user = record.user?;
        let good = environment == self.settings.environment && user.status == Status::Active;
        good.then_some(Admitted {
            organisation_id,
            organisation_status,
            oauth_client_id: record.oauth_client_id,
            client_secret_id,
            user_id: user.id,
            password_hash: user.password_hash,
            role: user.role,
        })
    }

    /// Passwords are slow to check, and more so where many wait: what was right when it was looked up may have
    /// been changed since. So it is looked at again where the session is opened.
    async fn open(&self, admitted: Admitted) -> Result<IssuedTokens, LoginError> {
        let (environment, at) = (self.settings.environment, self.clock.now());
        let access_token = AccessToken::generate(environment, &*self.entropy)?;
        let refresh_token = RefreshToken::generate(environment, &*self.entropy)?;
        let family = NewFamily {
            organisation_id: admitted.organisation_id,
            oauth_client_id: admitted.oauth_client_id,
            user_id: admitted.user_id,
            client_secret_id: admitted.client_secret_id,
            password_hash: admitted.password_hash,
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

/// Whether the client may log users in, and whoever calls has a live secret of it.
fn is_proven(record: &LoginRecord) -> bool {
    record.client_status == Status::Active && record.client_secret_id.is_some()
}

/// Until the next whole number of floors.
fn left_of_floor(floor: Duration, taken: Duration) -> Duration {
    let begun = taken.as_nanos().checked_rem(floor.as_nanos()).unwrap_or_default();
    let begun = Duration::from_nanos(u64::try_from(begun).unwrap_or_default());
    if begun.is_zero() && !taken.is_zero() { Duration::ZERO } else { floor.saturating_sub(begun) }
}

/// Whether no row can hold this text: Postgres keeps no NUL, and takes the question itself for an error.
pub(crate) fn unstorable(text: &str) -> bool {
    text.contains('\0')
}

/// Credentials of which all but the organisation's standing is known to be right.
struct Admitted {
    organisation_id: i64,
    organisation_status: Status,
    oauth_client_id: i64,
    client_secret_id: i64,
    user_id: i64,
    /// What the password was checked against.
    password_hash: String,
    role: Role,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_takes_a_whole_number_of_floors() {
        let left = |floor, taken| {
            left_of_floor(Duration::from_millis(floor), Duration::from_millis(taken)).as_millis()
        };
        assert_eq!([left(250, 0), left(250, 1), left(250, 249), left(250, 250)], [250, 249, 1, 0]);
        assert_eq!([left(250, 251), left(250, 260), left(250, 500)], [249, 240, 0]);
        assert_eq!([left(0, 0), left(0, 17)], [0, 0], "no floor is no floor");
    }
}
