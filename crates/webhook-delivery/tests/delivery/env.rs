//! A database with organisations, their endpoints and events, and workers that deliver them.

use std::sync::Arc;
use std::time::Duration;

use clock::SystemClock;
use feed::Feed;
use identity::{Environment, Identity, Onboarding, Role, SystemEntropy};
use local_postgres::LocalDatabase;
use purchase::{Authority, Timing};
use store::Store;
use test_kit::{
    database::{OPERATOR, SERVER, WORKER, add_logins, migrated, settings_as},
    organisation::{credentials, enter, identity_settings, log_in, user},
    purchases::connect_store,
};
use tokio::{runtime::Handle, sync::oneshot, task::JoinHandle};
use webhook::{DestinationRules, Endpoint, EndpointId, EndpointSettings, SigningKeys};
use webhook_delivery::{Deliverer, DeliverySettings, Sender};
use webhook_store::WebhookStore;

pub struct DeliveryEnv {
    pub database: LocalDatabase,
    server: Store,
    worker: Store,
    operator: Store,
}

/// An organisation whose user keeps endpoints.
#[derive(Clone, Copy)]
pub struct Owner {
    pub authority: Authority,
}

/// A running worker. It is stopped, and has ended its rounds, by [`Worker::stop`].
pub struct Worker {
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

/// Short times, so that failures cost a test little.
pub fn settings() -> DeliverySettings {
    DeliverySettings {
        poll_ms: 20,
        connect_timeout_ms: 500,
        timeout_ms: 1_000,
        round_ms: 1_000,
        lease_ms: 10_000,
        ..DeliverySettings::default()
    }
}

pub fn keys() -> SigningKeys {
    SigningKeys::from_random(&[7; SigningKeys::LENGTH])
}

impl DeliveryEnv {
    pub async fn open() -> Self {
        let database = migrated();
        add_logins(&database);
        let connect =
            |login| connect_store(settings_as(login, &database), Timing::default(), Handle::current());
        let (server, worker, operator) =
            (connect(SERVER).await, connect(WORKER).await, connect(OPERATOR).await);
        Self { database, server, worker, operator }
    }

    pub async fn owner(&self, code: &str) -> Owner {
        let (database, clock) = (self.operator.database().clone(), Arc::new(SystemClock));
        let onboarding = Onboarding::new(database, clock, Arc::new(SystemEntropy));
        let client =
            enter(&onboarding, code, code, Environment::Staging, user("till", Role::Integrator)).await;
        let identity = Identity::try_new(
            identity_settings(Environment::Staging),
            self.server.database().clone(),
            Arc::new(SystemClock),
            Arc::new(SystemEntropy),
        );
        let (authority, _tokens) = log_in(&identity.unwrap(), credentials(code, &client, "till")).await;
        Owner { authority }
    }

    /// Endpoints as the servers keep them.
    pub fn webhooks(&self) -> WebhookStore {
        WebhookStore::on(&self.server)
    }

    /// Endpoints as the workers see them.
    pub fn webhooks_of_worker(&self) -> WebhookStore {
        WebhookStore::on(&self.worker)
    }

    pub async fn endpoint(&self, owner: Owner, url: &str) -> Endpoint {
        self.endpoint_for(owner, url, &[]).await
    }

    pub async fn endpoint_for(&self, owner: Owner, url: &str, types: &[&str]) -> Endpoint {
        let settings = EndpointSettings {
            url: url.to_owned(),
            description: None,
            event_types: types.iter().map(|name| (*name).to_owned()).collect(),
            include_tokens: false,
        };
        let Authority { organisation, user, .. } = owner.authority;
        self.webhooks().add(organisation, user, settings, &keys()).await.unwrap()
    }

    /// Writes events with the numbers from `first` to `last`, each in a transaction of its own.
    pub fn tell(&self, owner: Owner, first: i64, last: i64) {
        self.tell_of(owner, "wallet.low", first, last);
    }

    pub fn tell_of(&self, owner: Owner, kind: &str, first: i64, last: i64) {
        self.sql(&format!(
            "DO $$ BEGIN FOR n IN {first}..{last} LOOP
                 PERFORM tell_feed({}, '{kind}', clock_timestamp(), jsonb_build_object('n', n));
                 COMMIT;
             END LOOP; END $$",
            owner.authority.organisation.0
        ));
    }

    pub fn sql(&self, sql: &str) -> String {
        self.database.run_sql(sql).unwrap()
    }

    pub fn work(&self) -> Worker {
        self.work_with(settings())
    }

    pub fn work_with(&self, settings: DeliverySettings) -> Worker {
        let _already = rustls::crypto::ring::default_provider().install_default();
        let rules =
            DestinationRules { allow_http: true, allow_networks: vec!["127.0.0.0/8".parse().unwrap()] };
        let within = Duration::from_millis(settings.timeout_ms);
        let sender = Sender::new(rules, Duration::from_millis(settings.connect_timeout_ms), within).unwrap();
        let feed = Feed::on(self.worker.database().clone());
        let deliverer =
            Deliverer::new(feed, self.webhooks_of_worker(), sender, settings, Arc::new(SystemClock));
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            deliverer.run(async { stopped.await.unwrap_or_default() }).await;
        });
        Worker { stop, running }
    }

    /// Makes everything due that is to be tried again.
    pub fn makes_due(&self, endpoint: EndpointId) {
        self.sql(&format!(
            "UPDATE webhook_retries SET due_at = now() WHERE endpoint_id = {id};
             UPDATE webhook_progress SET due_at = now() WHERE endpoint_id = {id} AND due_at > now() + interval '11 s'",
            id = endpoint.0
        ));
    }
}

impl Worker {
    pub async fn stop(self) {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
    }
}
