//! Registers, suspends and readmits organisations, clients and users, for the operator's tools.

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta, Utc};
use clock::SharedClock;
use database::{Database, DatabaseError};
use directory::{
    self as rows, AuditContext, ClientRecord, Environment, NewClient, NewOrganisation, NewSecret, NewUser,
    OrganisationRecord, Party, Role, Status, UserRecord,
};
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use crate::{
    ClientSecret, Entropy, EntropyError,
    credential::prefix,
    password::{self, HashError, PASSWORD_MAX, PASSWORD_MIN},
};

/// The operator's service. Every action is recorded in the audit log with its actor and its reason.
#[derive(Debug, Clone)]
pub struct Onboarding {
    database: Database,
    clock: SharedClock,
    entropy: Arc<dyn Entropy>,
}

/// A client with its first secret, which can be read only here.
#[derive(Debug, Clone)]
pub struct ClientCredentials {
    pub id: i64,
    pub client_id: String,
    pub secret_id: i64,
    pub secret: ClientSecret,
}

/// A client's secrets after a rotation. The new one can be read only here.
#[derive(Debug, Clone)]
pub struct RotatedSecret {
    pub secret_id: i64,
    pub secret: ClientSecret,
    /// The secrets that were live until now. They end at `old_end_at`.
    pub ending: Vec<i64>,
    pub old_end_at: DateTime<Utc>,
}

/// The details of a new user.
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

/// Why an organisation, client or user could not be created or changed.
#[derive(Debug, thiserror::Error)]
pub enum OnboardingError {
    /// No organisation has that code.
    #[error("there is no organisation {0}")]
    NoOrganisation(String),
    /// No client has that public id.
    #[error("there is no client {0}")]
    NoClient(String),
    /// The organisation has no user with that name.
    #[error("there is no user {username} of organisation {organisation_code}")]
    NoUser { username: String, organisation_code: String },
    /// The password is too short or too long.
    #[error("a password has {PASSWORD_MIN} to {PASSWORD_MAX} bytes")]
    PasswordLength,
    /// The password could not be hashed.
    #[error("the password could not be hashed")]
    Password(#[from] HashError),
    /// The end of the old secrets would be out of range.
    #[error("the overlap is too long")]
    Overlap,
    /// The hashing task ended early.
    #[error("the password's hashing did not finish")]
    Unhashed(#[source] tokio::task::JoinError),
    /// No secret could be made.
    #[error("no secret could be made")]
    Entropy(#[from] EntropyError),
    /// It could not be recorded. [`DatabaseError::Duplicate`] if the name is taken.
    #[error("it could not be recorded")]
    Database(#[from] DatabaseError),
}

impl Onboarding {
    pub fn new(database: Database, clock: SharedClock, entropy: Arc<dyn Entropy>) -> Self {
        Self { database, clock, entropy }
    }

    /// Registers an organisation, and returns its id.
    pub async fn create_organisation(
        &self,
        code: &str,
        name: &str,
        environment: Environment,
        act: AuditContext,
    ) -> Result<i64, OnboardingError> {
        let new = NewOrganisation { code: code.to_owned(), name: name.to_owned(), environment };
        Ok(rows::create_organisation(&self.database, new, act).await?)
    }

    /// The organisation with this code.
    pub async fn organisation(&self, code: &str) -> Result<OrganisationRecord, OnboardingError> {
        let found = rows::find_organisation(&self.database, code.to_owned()).await?;
        found.ok_or_else(|| OnboardingError::NoOrganisation(code.to_owned()))
    }

    /// Sets the end of an organisation's receipts, in lines, or takes it away.
    pub async fn set_receipt_footer(
        &self,
        organisation: i64,
        footer: Option<String>,
        act: AuditContext,
    ) -> Result<(), OnboardingError> {
        Ok(rows::set_receipt_footer(&self.database, organisation, footer, act).await?)
    }

    /// Every organisation, ordered by code.
    pub async fn organisations(&self) -> Result<Vec<OrganisationRecord>, OnboardingError> {
        Ok(rows::list_organisations(&self.database).await?)
    }

    /// The clients of an organisation, the oldest first.
    pub async fn clients(&self, organisation_code: &str) -> Result<Vec<ClientRecord>, OnboardingError> {
        let organisation = self.organisation(organisation_code).await?;
        Ok(rows::list_clients(&self.database, organisation.id).await?)
    }

    /// The users of an organisation, by name.
    pub async fn users(&self, organisation_code: &str) -> Result<Vec<UserRecord>, OnboardingError> {
        let organisation = self.organisation(organisation_code).await?;
        Ok(rows::list_users(&self.database, organisation.id).await?)
    }

    /// The user of an organisation with this name.
    pub async fn user(&self, organisation_code: &str, username: &str) -> Result<UserRecord, OnboardingError> {
        let organisation = self.organisation(organisation_code).await?;
        let found = rows::find_user(&self.database, organisation.id, username.to_owned()).await?;
        let absent = || OnboardingError::NoUser {
            username: username.to_owned(),
            organisation_code: organisation_code.to_owned(),
        };
        found.ok_or_else(absent)
    }

    /// The client with this public id, with the visible data of its secrets.
    pub async fn client(&self, client_id: &str) -> Result<ClientRecord, OnboardingError> {
        let found = rows::find_client(&self.database, client_id.to_owned()).await?;
        found.ok_or_else(|| OnboardingError::NoClient(client_id.to_owned()))
    }

    /// Creates a client of an organisation, with a first secret.
    pub async fn create_client(
        &self,
        organisation_code: &str,
        name: &str,
        act: AuditContext,
    ) -> Result<ClientCredentials, OnboardingError> {
        let organisation = self.organisation(organisation_code).await?;
        let environment = organisation.environment;
        let mut digits = [0; 12];
        self.entropy.fill(&mut digits)?;
        let client_id = format!("{}{}", prefix(environment), hex::encode(digits));
        let secret = ClientSecret::generate(environment, &*self.entropy)?;
        let new = NewClient {
            organisation_id: organisation.id,
            client_id: client_id.clone(),
            name: name.to_owned(),
            secret: self.secret_row(&secret),
        };
        let (id, secret_id) = rows::create_client(&self.database, new, act).await?;
        Ok(ClientCredentials { id, client_id, secret_id, secret })
    }

    /// Gives a client a new secret. The secrets that it has are accepted for another `overlap`, in which the integrator
    /// changes over, and then no longer.
    pub async fn rotate_secret(
        &self,
        client_id: &str,
        overlap: Duration,
        act: AuditContext,
    ) -> Result<RotatedSecret, OnboardingError> {
        let client = self.client(client_id).await?;
        let overlap = TimeDelta::from_std(overlap).ok();
        let old_end_at = overlap.and_then(|overlap| self.clock.now().checked_add_signed(overlap));
        let old_end_at = old_end_at.ok_or(OnboardingError::Overlap)?;
        let secret = ClientSecret::generate(environment_of(client_id), &*self.entropy)?;
        let row = self.secret_row(&secret);
        let rotated = rows::rotate_secret(&self.database, client.id, row, old_end_at, act).await?;
        Ok(RotatedSecret { secret_id: rotated.id, secret, ending: rotated.ending, old_end_at })
    }

    /// Ends a secret that has leaked, and every session that was opened with it. A session that was opened with another
    /// secret continues, even if it was refreshed with this one.
    pub async fn revoke_secret(&self, secret_id: i64, act: AuditContext) -> Result<(), OnboardingError> {
        Ok(rows::revoke_secret(&self.database, secret_id, self.clock.now(), act).await?)
    }

    /// Creates a user of an organisation, and returns its id.
    pub async fn create_user(
        &self,
        organisation_code: &str,
        details: UserDetails,
        act: AuditContext,
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
        Ok(rows::create_user(&self.database, new, act).await?)
    }

    /// Gives a user another role.
    pub async fn set_role(&self, user: i64, role: Role, act: AuditContext) -> Result<(), OnboardingError> {
        Ok(rows::set_role(&self.database, user, role, act).await?)
    }

    /// Replaces a user's password, and ends every session that was opened with the old one.
    pub async fn replace_password(
        &self,
        user: i64,
        password: SecretString,
        act: AuditContext,
    ) -> Result<(), OnboardingError> {
        let hash = self.hash(password).await?;
        Ok(rows::replace_password(&self.database, user, hash, self.clock.now(), act).await?)
    }

    /// A password that cannot be guessed: 144 random bits in 24 characters.
    pub fn generate_password(&self) -> Result<SecretString, OnboardingError> {
        let mut bytes = Zeroizing::new([0; 18]);
        self.entropy.fill(bytes.as_mut_slice())?;
        Ok(URL_SAFE_NO_PAD.encode(bytes.as_slice()).into())
    }

    /// Suspends or readmits an organisation, client or user.
    pub async fn set_status(
        &self,
        party: Party,
        status: Status,
        act: AuditContext,
    ) -> Result<(), OnboardingError> {
        Ok(rows::set_status(&self.database, party, status, act).await?)
    }

    fn secret_row(&self, secret: &ClientSecret) -> NewSecret {
        NewSecret { hash: secret.hash(), created_at: self.clock.now() }
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

fn environment_of(client_id: &str) -> Environment {
    if client_id.starts_with(prefix(Environment::Production)) {
        Environment::Production
    } else {
        Environment::Staging
    }
}
