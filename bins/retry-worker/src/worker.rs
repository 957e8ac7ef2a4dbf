//! One worker: built, run, drained.

use std::{net::SocketAddr, time::Duration};

use back_office::{FeedSettings, RetentionSettings};
use boot::{Metrics, Observatory, ObserveError};
use chrono_tz::Tz;
use clock::SharedClock;
use database::{DatabaseError, Purpose};
use feed::Feed;
use futures_util::FutureExt;
use messages::Messages;
use notify::{GatewayError, Gateways, Notifier, NotifySettings, NotifySettingsError};
use provider_registry::ProviderSettingsError;
use purchase::TimingError;
use store::{SealError, Store};
use traces::Traces;
use vending::{BadNetwork, BadTimeZone, Engine, Vending, WorkerSettings};
use webhook_delivery::{Deliverer, DeliverySettingsError, Sender, SenderError};
use webhook_store::WebhookStore;

use crate::{RoundSettings, Settings, rounds};

/// A worker that is built and does not work yet.
#[derive(Debug)]
pub struct Worker {
    vending: Vending,
    notifier: Notifier,
    deliverer: Deliverer,
    observatory: Observatory,
    settings: WorkerSettings,
    store: Store,
    rounds: RoundSettings,
    retention: RetentionSettings,
    feed: FeedSettings,
    clock: SharedClock,
    zone: Tz,
}

/// Why a worker does not work.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The sealing keys cannot be used.
    #[error("the sealing keys cannot be used")]
    Sealing(#[from] SealError),
    /// The database cannot be reached, or it does not meet the conditions for storing money.
    #[error("the store cannot be used")]
    Database(#[from] DatabaseError),
    /// The durations of the vending settings are not in the required order.
    #[error("the vending settings cannot be used")]
    Vending(#[from] TimingError),
    /// The time zone of the service is unknown.
    #[error("the worker settings cannot be used")]
    TimeZone(#[from] BadTimeZone),
    /// The settings of a provider cannot be used.
    #[error("a provider cannot be connected")]
    Provider(#[from] ProviderSettingsError),
    /// The settings of the messages cannot be used together.
    #[error("the notify settings cannot be used")]
    Notify(#[from] NotifySettingsError),
    /// The gateways cannot be built from the settings.
    #[error("a gateway for messages cannot be used")]
    Gateway(#[from] GatewayError),
    /// The settings of webhooks cannot be used.
    #[error("the webhooks settings cannot be used")]
    Webhooks(#[from] BadNetwork),
    /// The settings of webhook delivery cannot be used together.
    #[error("the webhook_delivery settings cannot be used")]
    Delivery(#[from] DeliverySettingsError),
    /// The client for webhook endpoints cannot be built.
    #[error("webhooks cannot be sent")]
    Sender(#[from] SenderError),
    /// The monitoring listener cannot be started.
    #[error("the worker cannot be monitored")]
    Observe(#[from] ObserveError),
}

impl Worker {
    /// Assembles the crates.
    pub async fn build(
        settings: &Settings,
        metrics: &Metrics,
        engine: Engine,
        (clock, traces): (SharedClock, Traces),
    ) -> Result<Self, WorkError> {
        let timing = settings.vending.timing();
        let keys = settings.sealing.keys()?;
        let runtime = engine.runtime().clone();
        let store = Store::connect(settings.store.clone(), keys, timing, Purpose::General, runtime).await?;
        store.database().refuse_powerful_role().await?;
        store.database().refuse_shared_sessions().await?;
        let providers = provider_registry::connect(&settings.providers, timing.provider_timeout, &clock)?;
        let notifier = notifier(store.clone(), &settings.notify)?;
        let deliverer = deliverer(&store, settings, &clock)?;
        let reached = store.clone();
        let observatory = Observatory::start(&settings.observe, metrics, clock.clone(), move || {
            let store = reached.clone();
            async move { store.check_health().await }
        })?;
        let zone = settings.worker.zone()?;
        let vending = settings.vending.clone();
        let vending = Vending::new(store.clone(), providers, clock.clone(), engine, vending, zone, traces)?;
        let (rounds, retention, feed) = (settings.rounds.clone(), settings.retention, settings.feed);
        let settings = settings.worker.clone();
        Ok(Self {
            vending,
            notifier,
            deliverer,
            observatory,
            settings,
            store,
            rounds,
            retention,
            feed,
            clock,
            zone,
        })
    }

    /// The address of the monitoring listener.
    pub const fn observe_address(&self) -> SocketAddr {
        self.observatory.address()
    }

    /// Works until `stop` resolves. Then it claims nothing more and finishes the purchases, messages and events under way.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        self.vending.share_answers_from_now_on();
        self.vending.note_floats_from_now_on();
        let stop = async {
            stop.await;
            self.observatory.stopping();
        };
        let stop = stop.shared();
        let work = async {
            tokio::join!(
                self.vending.work(&self.settings, stop.clone()),
                self.vending.settle_batches(&self.settings, stop.clone()),
                self.notifier.run(stop.clone()),
                self.deliverer.run(stop.clone()),
            );
        };
        let (keeping, on) = ((self.retention, self.feed), (self.store, self.vending.clone()));
        let rounds = rounds::make(self.rounds, keeping, on, (self.clock, self.zone));
        tokio::select! {
            () = work => {}
            () = Box::pin(rounds) => {}
        }
    }
}

fn notifier(store: Store, settings: &NotifySettings) -> Result<Notifier, WorkError> {
    settings.checked()?;
    let gateways = Gateways::new(settings)?;
    Ok(Notifier::new(store, Messages::new(), gateways, settings.clone()))
}

fn deliverer(store: &Store, settings: &Settings, clock: &SharedClock) -> Result<Deliverer, WorkError> {
    let delivery = settings.webhook_delivery.clone();
    delivery.checked()?;
    let [connect, within] = [delivery.connect_timeout_ms, delivery.timeout_ms].map(Duration::from_millis);
    let sender = Sender::new(settings.webhooks.rules()?, connect, within)?;
    let feed = Feed::on(store.database().clone());
    Ok(Deliverer::new(feed, WebhookStore::on(store), sender, delivery, clock.clone()))
}
