//! Letting organisations, clients and users in, and keeping them out: what the operator's tools do.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use clock::SharedClock;
use secrecy::{ExposeSecret, SecretString};
use store::{
    Store, StoreError,
    identity::{
        self as rows, Act, ClientRecord, Environment, NewClient, NewOrganisation, NewSecret, NewUser,
        OrganisationRecord, Party, Role, Status,
    },
};

use crate::{
    ClientSecret, Entropy, EntropyError,
    credential::world,
    password::{self, HashError, PASSWORD_MAX, PASSWORD_MIN},
};

/// The operator's desk. Every deed is recorded with who did it and why.
#[derive(Debug, Clone)]
pub struct Onboarding {
    store: Store,
    clock: SharedClock,
    entropy: Arc<dyn Entropy>,
}

/// A client with its first secret, which can be read here and never again.
#[derive(Debug, Clone)]
pub struct ClientCredentials {
    pub id: i64,
    pub client_id: String,
    pub secret_id: i64,
    pub secret: ClientSecret,
}

/// A further secret of a client, which can be read here and never again.
#[derive(Debug, Clone)]
pub struct NewSecretShown {
    pub secret_id: i64,
    pub secret: ClientSecret,
}

/// A user to be made.
#[derive(Debug, Clone)]
pub struct UserDetails {
    pub username: String,
    /// 12 to 256 bytes.
    pub password: SecretString,
    pub full_name: String,
    /// E.164 digits.
    pub phone_number: Option<String>,
    pub email: Option<String>,
    pub role: Role,
}

/// Why somebody could not be let in.
#[derive(Debug, thiserror::Error)]
pub enum OnboardingError {
    /// There is nothing of that name.
    #[error("there is no {what} {name}")]
    Absent { what: &'static str, name: String },
    /// The password is too short or too long.
    #[error("a password has {PASSWORD_MIN} to {PASSWORD_MAX} bytes")]
    PasswordLength,
    /// The password could not be hashed.
    #[error("the password could not be hashed")]
    Password(#[from] HashError),
    /// The hashing died.
    #[error("the password's hashing did not finish")]
    Unhashed(#[source] tokio::task::JoinError),
    /// No secret could be made.
    #[error("no secret could be made")]
    Entropy(#[from] EntropyError),
    /// It could not be recorded; [`StoreError::Duplicate`] when the name is taken.
    #[error("it could not be recorded")]
    Store(#[from] StoreError),
}

impl Onboarding {
    pub fn new(store: Store, clock: SharedClock, entropy: Arc<dyn Entropy>) -> Self {
        Self { store, clock, entropy }
    }

    /// Lets an organisation in, and returns its id.
    pub async fn create_organisation(
        &self,
        code: &str,
        name: &str,
        environment: Environment,
        act: Act,
    ) -> Result<i64, OnboardingError> {
        let new = NewOrganisation { code: code.to_owned(), name: name.to_owned(), environment };
        Ok(rows::create_organisation(&self.store, new, act).await?)
    }

    /// The organisation of this code.
    pub async fn organisation(&self, code: &str) -> Result<OrganisationRecord, OnboardingError> {
        let found = rows::find_organisation(&self.store, code.to_owned()).await?;
        found.ok_or_else(|| OnboardingError::Absent { what: "organisation", name: code.to_owned() })
    }

    /// The client of this public text, with what may be seen of its secrets.
    pub async fn client(&self, client_id: &str) -> Result<ClientRecord, OnboardingError> {
        let found = rows::find_client(&self.store, client_id.to_owned()).await?;
        found.ok_or_else(|| OnboardingError::Absent { what: "client", name: client_id.to_owned() })
    }

    /// Makes a client for an organisation, with a first secret.
    pub async fn create_client(
        &self,
        organisation_code: &str,
        name: &str,
        act: Act,
    ) -> Result<ClientCredentials, OnboardingError> {
        let organisation = self.organisation(organisation_code).await?;
        let environment = organisation.environment;
        let mut digits = [0; 12];
        self.entropy.fill(&mut digits)?;
        let client_id = format!("{}{}", world(environment), hex::encode(digits));
        let secret = ClientSecret::generate(environment, &*self.entropy)?;
        let new = NewClient {
            organisation_id: organisation.id,
            client_id: client_id.clone(),
            name: name.to_owned(),
            secret: self.secret_row(&secret, None),
        };
        let (id, secret_id) = rows::create_client(&self.store, new, act).await?;
        Ok(ClientCredentials { id, client_id, secret_id, secret })
    }

    /// Gives a client one more secret, beside those that it has. To replace one without an interruption: add,
    /// let the integrator change over, [expire](Self::expire_secret) the old one.
    pub async fn add_secret(
        &self,
        client_id: &str,
        expires_at: Option<DateTime<Utc>>,
        act: Act,
    ) -> Result<NewSecretShown, OnboardingError> {
        let client = self.client(client_id).await?;
        let environment = if client_id.starts_with(world(Environment::Production)) {
            Environment::Production
        } else {
            Environment::Staging
        };
        let secret = ClientSecret::generate(environment, &*self.entropy)?;
        let row = self.secret_row(&secret, expires_at);
        let secret_id = rows::add_secret(&self.store, client.id, row, act).await?;
        Ok(NewSecretShown { secret_id, secret })
    }

    /// Ends a secret at `at`; what was opened with it goes on.
    pub async fn expire_secret(
        &self,
        secret_id: i64,
        at: DateTime<Utc>,
        act: Act,
    ) -> Result<(), OnboardingError> {
        Ok(rows::expire_secret(&self.store, secret_id, at, act).await?)
    }

    /// Ends a secret that is in the wrong hands, and every token that was obtained with it.
    pub async fn revoke_secret(&self, secret_id: i64, act: Act) -> Result<(), OnboardingError> {
        Ok(rows::revoke_secret(&self.store, secret_id, self.clock.now(), act).await?)
    }

    /// Makes a user for an organisation, and returns its id.
    pub async fn create_user(
        &self,
        organisation_code: &str,
        details: UserDetails,
        act: Act,
    ) -> Result<i64, OnboardingError> {
        let organisation = self.organisation(organisation_code).await?;
        let new = NewUser {
            organisation_id: organisation.id,
            username: details.username,
            password_hash: self.hash(details.password).await?,
            full_name: details.full_name,
            phone_number: details.phone_number,
            email: details.email,
            role: details.role,
        };
        Ok(rows::create_user(&self.store, new, act).await?)
    }

    /// Suspends or readmits an organisation, client or user.
    pub async fn set_status(&self, party: Party, status: Status, act: Act) -> Result<(), OnboardingError> {
        Ok(rows::set_status(&self.store, party, status, act).await?)
    }

    fn secret_row(&self, secret: &ClientSecret, expires_at: Option<DateTime<Utc>>) -> NewSecret {
        NewSecret { hash: secret.hash(), created_at: self.clock.now(), expires_at }
    }

    async fn hash(&self, password: SecretString) -> Result<String, OnboardingError> {
        if !(PASSWORD_MIN..=PASSWORD_MAX).contains(&password.expose_secret().len()) {
            return Err(OnboardingError::PasswordLength);
        }
        let entropy = Arc::clone(&self.entropy);
        let hashed = tokio::task::spawn_blocking(move || password::hash(&password, &*entropy)).await;
        Ok(hashed.map_err(OnboardingError::Unhashed)??)
    }
}
