//! A deployment for one test: its database, its clock, and a registered organisation.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use clock::ManualClock;
use database::{Database, DatabaseSettings, migrate};
use identity::{
    AuditContext, ClientCredentials, ClientProof, Entropy, Environment, Identity, IdentitySettings,
    IssuedTokens, LoginCredentials, LoginError, Onboarding, RefreshCredentials, Role, SystemEntropy,
    UserDetails,
};
use local_postgres::{LocalDatabase, LocalPostgres};
use tokio::runtime::{Builder, Handle};

pub const PASSWORD: &str = "correct horse battery";

const ROLES: &str = "
    DO $$ BEGIN
        CREATE ROLE test_server LOGIN PASSWORD 'test_server' IN ROLE vendgate_api;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
    DO $$ BEGIN
        CREATE ROLE test_operator LOGIN PASSWORD 'test_operator' IN ROLE vendgate_operator;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;";

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
        let database = LocalPostgres::shared().database_from_template("identity", prepare).unwrap();
        database.run_sql(ROLES).unwrap();
        let clock = ManualClock::at("2026-11-20T08:00:00Z".parse().unwrap());
        let server = connected(&database, "test_server").await;
        let operator = connected(&database, "test_operator").await;
        let onboarding = Onboarding::new(operator, Arc::new(clock.clone()), Arc::new(SystemEntropy));
        onboarding.create_organisation("KGALE", "Kgale Stores", Environment::Staging, act()).await.unwrap();
        let client = onboarding.create_client("KGALE", "tills", act()).await.unwrap();
        onboarding.create_user("KGALE", till(), act()).await.unwrap();
        let identity = deployment(&server, &clock, &settings(Environment::Staging), Arc::new(SystemEntropy));
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
        LoginCredentials {
            client_id: self.client.client_id.clone(),
            client_secret: self.client.secret.expose().into(),
            organisation_code: "KGALE".into(),
            username: "till".into(),
            password: PASSWORD.into(),
        }
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

/// The settings of a deployment that refuses at once, because most tests cannot wait for a floor.
pub fn settings(environment: Environment) -> IdentitySettings {
    let mut settings = IdentitySettings::new(environment, "a1".repeat(32).into());
    settings.refusal_floor_ms = 0;
    settings
}

pub fn act() -> AuditContext {
    AuditContext { actor: "naledi".into(), reason: "contract 17".into() }
}

pub fn till() -> UserDetails {
    UserDetails {
        username: "till".into(),
        password: PASSWORD.into(),
        full_name: "Till One".into(),
        phone_number: Some("26771000000".into()),
        email: Some("till@kgale.example".into()),
        role: Role::Integrator,
    }
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
    let mut settings = DatabaseSettings::for_database(database.url_as(role, role));
    settings.pool_size = 4;
    Database::connect(settings, Handle::current()).await.unwrap()
}

fn prepare(url: &str) -> Result<(), database::DatabaseError> {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(migrate(&url.into())).map(drop)
}
