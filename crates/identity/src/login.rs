//! Exchanges credentials for the first pair of tokens.

use std::{hash::Hash, time::Duration};

use clock::Monotonic;
use database::DatabaseError;
use directory::{
    CredentialHash, FamilyOpened, LoginRecord, NewFamily, NewPair, Role, Status, find_login, open_family,
};
use secrecy::{ExposeSecret, SecretString};

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
    /// Everything except the password: the client, its secret, the organisation and the user. Only to be hashed, never
    /// to be read.
    pub fn claim(&self) -> impl Hash {
        let secret = self.client_secret.expose_secret();
        (&self.client_id, secret, &self.organisation_code, &self.username)
    }
}

/// A pair of tokens. They can be read only here.
#[derive(Debug, Clone)]
pub struct IssuedTokens {
    pub access_token: AccessToken,
    /// How long the access token is valid from now on, in seconds.
    pub access_in: u32,
    pub refresh_token: RefreshToken,
    /// Space-separated OAuth scopes.
    pub scope: &'static str,
}

/// Why credentials were not exchanged for tokens.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// A part of the credentials is wrong. No caller learns which part.
    #[error("the credentials are not good")]
    InvalidCredentials,
    /// All credentials are right, but the organisation is suspended.
    #[error("the organisation is suspended")]
    OrganisationSuspended,
    /// Too many logins are waiting, or the database is overloaded or temporarily not reachable.
    #[error("too many logins are waiting")]
    Busy(#[source] Option<DatabaseError>),
    /// The look-up or the recording failed.
    #[error("the login could not be looked up or recorded")]
    Database(#[source] DatabaseError),
    /// No token could be made.
    #[error("no token could be made")]
    Entropy(#[from] EntropyError),
    /// The task that checks the password ended early.
    #[error("the password could not be checked")]
    Unchecked(#[source] tokio::task::JoinError),
}

impl From<DatabaseError> for LoginError {
    fn from(error: DatabaseError) -> Self {
        if error.may_pass() { Self::Busy(Some(error)) } else { Self::Database(error) }
    }
}

impl Identity {
    /// Logs a user in: client, then organisation, then user.
    ///
    /// The client secret is checked first, by its SHA-256. It has 256 random bits, so no slower hash is needed, and the
    /// time of a look-up by that hash reveals nothing about the secret. Only a client that this proves reaches the
    /// password hash. A caller without such a secret cannot cause one to be computed.
    ///
    /// Every refusal is the same and takes the same time, whichever part of the credentials is wrong.
    pub async fn login(&self, credentials: LoginCredentials) -> Result<IssuedTokens, LoginError> {
        let started = self.clock.monotonic();
        let outcome = self.try_login(credentials).await;
        self.wait_out_refusal(&outcome, started).await;
        outcome
    }

    /// Delays a refusal until the floor has passed, or a whole number of floors. On a machine so busy that the work
    /// itself takes longer than the floor, the time then reveals little more than how busy the machine is.
    ///
    /// All refusals of a proven client cost the same work, and so do all refusals of other callers. So the floor has
    /// little to hide within either group. On a busy machine it may fail to hide whether the client was proven. But a
    /// caller that presents a secret of 256 random bits knows that already.
    ///
    /// The floor counts from the moment when the server no longer waits for the caller. If it counted from the arrival
    /// of the head, a body that is sent late could use it up. If it included a delay, it would end at a moment that the
    /// caller chooses. Both would make our work measurable.
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
        // Checked even without a hash to check against, because skipping the check would be measurable.
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

    /// `None` also for everything of the other environment. Credentials that cannot match are looked up like all
    /// others, under names that do not exist.
    async fn look_up(&self, credentials: LoginCredentials) -> Result<Option<LoginRecord>, LoginError> {
        let environment = self.settings.environment;
        let LoginCredentials { client_id, client_secret, organisation_code, username, .. } = credentials;
        let secret = ClientSecret::parse(client_secret.expose_secret(), environment);
        let names = [&client_id, &organisation_code, &username];
        let possible = secret.is_some()
            && client_id.starts_with(credential::prefix(environment))
            && !names.into_iter().any(|name| unstorable(name));
        let hash = secret.map_or(CredentialHash([0; 32]), |secret| secret.hash());
        let [client_id, organisation_code, username] = [client_id, organisation_code, username]
            .map(|name| if unstorable(&name) { String::new() } else { name });
        let (database, now) = (&self.database, self.clock.now());
        let found = find_login(database, client_id, hash, organisation_code, username, now).await?;
        Ok(found.filter(|_| possible))
    }

    /// The organisation and the user of a proven client. The password is checked separately.
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

    /// Checking a password takes time, and more if many wait. What was right at the look-up may have been changed
    /// since, so it is checked again when the session is opened.
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
        match open_family(&self.database, family).await {
            Ok(FamilyOpened { .. }) => Ok(IssuedTokens {
                access_token,
                access_in: self.settings.access_lifetime_s,
                refresh_token,
                scope: permission::scope(admitted.role),
            }),
            Err(DatabaseError::Stale { .. }) => Err(LoginError::InvalidCredentials),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether the client may log users in, and the caller has a live secret of it.
fn is_proven(record: &LoginRecord) -> bool {
    record.client_status == Status::Active && record.client_secret_id.is_some()
}

/// The time until the next whole number of floors.
fn left_of_floor(floor: Duration, taken: Duration) -> Duration {
    let begun = taken.as_nanos().checked_rem(floor.as_nanos()).unwrap_or_default();
    let begun = Duration::from_nanos(u64::try_from(begun).unwrap_or_default());
    if begun.is_zero() && !taken.is_zero() { Duration::ZERO } else { floor.saturating_sub(begun) }
}

/// Whether no row can contain this text. Postgres stores no NUL and answers a query that contains one with an error.
pub(crate) fn unstorable(text: &str) -> bool {
    text.contains('\0')
}

/// Credentials that are right. Only the status of the organisation is still to be checked.
struct Admitted {
    organisation_id: i64,
    organisation_status: Status,
    oauth_client_id: i64,
    client_secret_id: i64,
    user_id: i64,
    /// The hash against which the password was checked.
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
        assert_eq!([left(0, 0), left(0, 17)], [0, 0], "without a floor there is no delay");
    }
}
