//! A deployment for one test: its database, its clock, and a registered organisation.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use clock::ManualClock;
use database::{Database, Purpose};
use identity::{
    ClientCredentials, ClientProof, Entropy, Environment, Identity, IdentitySettings, IssuedTokens,
    LoginCredentials, LoginError, Onboarding, RefreshCredentials, Role, SystemEntropy, UserDetails,
};
use local_postgres::LocalDatabase;
use test_kit::{
    database::{OPERATOR, SERVER, add_logins, migrated, settings_as},
    organisation::{credentials, enter, identity_settings, user},
};
use tokio::runtime::Handle;

/// An organisation, KGALE, with a client and an integrator called `till`, in staging.
pub struct Office {
    pub database: Arc<LocalDatabase>,
    pub clock: ManualClock,
    pub identity: Identity,
    pub onboarding: Onboarding,
    pub client: ClientCredentials,
    server: Database,
}

impl Office {
    pub async fn open() -> Self {
        let database = migrated();
        add_logins(&database);
        let clock = ManualClock::at("2026-11-20T08:00:00Z".parse().unwrap());
        let server = connected(&database, SERVER).await;
        let operator = connected(&database, OPERATOR).await;
        let onboarding = Onboarding::new(operator, Arc::new(clock.clone()), Arc::new(SystemEntropy));
        let client = enter(&onboarding, "KGALE", "Kgale Stores", Environment::Staging, till()).await;
        let settings = identity_settings(Environment::Staging);
        let identity = deployment(&server, &clock, &settings, Arc::new(SystemEntropy));
        let database = Arc::new(database);
        Self { database, clock, identity, onboarding, client, server }
    }

    /// Another deployment on the same database.
    pub fn deployment(&self, settings: &IdentitySettings) -> Identity {
        self.deployment_with(settings, Arc::new(SystemEntropy))
    }

    /// Another deployment on the same database, with another source of random bytes.
    pub fn deployment_with(&self, settings: &IdentitySettings, entropy: Arc<dyn Entropy>) -> Identity {
        deployment(&self.server, &self.clock, settings, entropy)
    }

    /// All the right credentials.
    pub fn credentials(&self) -> LoginCredentials {
        credentials("KGALE", &self.client, "till")
    }

    pub async fn logs_in(&self) -> IssuedTokens {
        self.identity.login(self.credentials()).await.unwrap()
    }

    pub async fn refreshes(&self, tokens: &IssuedTokens) -> Result<IssuedTokens, LoginError> {
        self.identity.refresh(self.refresh_with(tokens)).await
    }

    pub fn refresh_with(&self, tokens: &IssuedTokens) -> RefreshCredentials {
        let (client_id, secret) = (&self.client.client_id, self.client.secret.expose());
        refresh_by(client_id, secret, tokens)
    }

    /// Refreshes one session, and shows an access token instead of the client's secret.
    pub async fn refreshes_by_token(
        &self,
        tokens: &IssuedTokens,
        shown: &IssuedTokens,
        client_id: Option<&str>,
    ) -> Result<IssuedTokens, LoginError> {
        let access_token = shown.access_token.expose().into();
        let client = ClientProof::AccessToken { client_id: client_id.map(str::to_owned), access_token };
        let refresh_token = tokens.refresh_token.expose().into();
        self.identity.refresh(RefreshCredentials { client, refresh_token }).await
    }

    /// Whether the access token still has a caller.
    pub async fn knows(&self, tokens: &IssuedTokens) -> bool {
        self.identity.authenticate(tokens.access_token.expose()).await.is_ok()
    }

    pub fn passes(&self, time: TimeDelta) -> DateTime<Utc> {
        self.clock.advance(time.to_std().unwrap());
        clock::Clock::now(&self.clock)
    }

    pub fn count(&self, from: &str) -> u32 {
        self.database.run_sql(&format!("SELECT count(*) FROM {from}")).unwrap().parse().unwrap()
    }
}

/// The refresh request of a client with this id and this secret.
pub fn refresh_by(client_id: &str, client_secret: &str, tokens: &IssuedTokens) -> RefreshCredentials {
    let client = ClientProof::Secret { client_id: client_id.to_owned(), client_secret: client_secret.into() };
    RefreshCredentials { client, refresh_token: tokens.refresh_token.expose().into() }
}

pub fn till() -> UserDetails {
    UserDetails { email: Some("till@kgale.example".into()), ..user("till", Role::Integrator) }
}

pub fn wrong(outcome: &Result<IssuedTokens, LoginError>) -> bool {
    matches!(outcome, Err(LoginError::InvalidCredentials))
}

/// The texts of a pair of tokens.
pub fn texts(tokens: &IssuedTokens) -> (&str, &str) {
    (tokens.access_token.expose(), tokens.refresh_token.expose())
}

fn deployment(
    database: &Database,
    clock: &ManualClock,
    settings: &IdentitySettings,
    entropy: Arc<dyn Entropy>,
) -> Identity {
    Identity::try_new(settings.clone(), database.clone(), Arc::new(clock.clone()), entropy).unwrap()
}

async fn connected(database: &LocalDatabase, role: &str) -> Database {
    Database::connect(settings_as(role, database), Purpose::Requests, Handle::current()).await.unwrap()
}
