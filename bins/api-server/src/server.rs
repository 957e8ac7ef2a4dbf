//! One server: built, bound, run, drained.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use actix_web::{App, dev::Server, middleware::from_fn, web::Data};
use boot::{Metrics, Observatory, ObserveError};
use clock::SharedClock;
use database::{DatabaseError, Purpose};
use identity::{Identity, IdentitySettingsError, SystemEntropy};
use provider_registry::ProviderSettingsError;
use purchase::TimingError;
use store::{SealError, Store};
use traces::Traces;
use vending::{BadCertificateSettings, BadNetwork, CertificateKeys, Engine, Vending};
use web::{HeadLimits, SharedState, WebSettingsError};
use webhook::DestinationRules;

use crate::{facts::facts, listener, settings::Settings};

/// A server that listens and does not serve yet.
pub struct ApiServer {
    server: Server,
    address: SocketAddr,
    observatory: Observatory,
    engine: Engine,
    vending: Data<Vending>,
    stop_notice: Duration,
    drain: Duration,
}

/// Why a server does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The sealing keys cannot be used.
    #[error("the sealing keys cannot be used")]
    Sealing(#[from] SealError),
    /// The database cannot be reached, or it does not meet the conditions for storing money.
    #[error("the store cannot be used")]
    Database(#[from] DatabaseError),
    /// The settings of identity cannot be used.
    #[error("the identity settings cannot be used")]
    Identity(#[from] IdentitySettingsError),
    /// The durations of the vending settings are not in the required order.
    #[error("the vending settings cannot be used")]
    Vending(#[from] TimingError),
    /// The settings of a provider cannot be used.
    #[error("a provider cannot be connected")]
    Provider(#[from] ProviderSettingsError),
    /// The settings of the surfaces cannot be used.
    #[error("the web settings cannot be used")]
    Web(#[from] WebSettingsError),
    /// The settings of webhooks cannot be used.
    #[error("the webhooks settings cannot be used")]
    Webhooks(#[from] BadNetwork),
    /// The settings of certificates cannot be used.
    #[error("the certificates settings cannot be used")]
    Certificates(#[from] BadCertificateSettings),
    /// The address cannot be listened on.
    #[error("the server cannot listen on {listen}")]
    Listen {
        /// The address.
        listen: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The monitoring listener cannot be started.
    #[error("the server cannot be monitored")]
    Observe(#[from] ObserveError),
    /// The server failed while it ran.
    #[error("the server failed")]
    Broke(#[source] io::Error),
}

/// What all worker threads of a server share.
#[derive(Clone)]
struct Shared {
    web: Data<SharedState>,
    identity: Data<Identity>,
    vending: Data<Vending>,
    destinations: Data<DestinationRules>,
    certificates: Data<CertificateKeys>,
}

impl ApiServer {
    /// Assembles the crates and listens. Must be called on an actix system.
    pub async fn build(
        settings: &Settings,
        metrics: &Metrics,
        engine: Engine,
        (clock, traces): (SharedClock, Traces),
    ) -> Result<Self, ServeError> {
        let timing = settings.vending.timing();
        let keys = settings.sealing.keys()?;
        let runtime = engine.runtime().clone();
        let store = Store::connect(settings.store.clone(), keys, timing, Purpose::Requests, runtime).await?;
        store.database().refuse_powerful_role().await?;
        store.database().refuse_shared_sessions().await?;
        let providers = provider_registry::connect(&settings.providers, timing.provider_timeout, &clock)?;
        let identity = Identity::try_new(
            settings.identity.clone(),
            store.database().clone(),
            clock.clone(),
            Arc::new(SystemEntropy),
        )?;
        let shared = SharedState::new(&settings.web, clock.clone())?
            .with_surface(http_legacy::Current)
            .with_traces(traces.clone());
        let reached = store.clone();
        let observatory = Observatory::start(&settings.observe, metrics, clock.clone(), move || {
            let store = reached.clone();
            async move { store.check_health().await }
        })?;
        let vending = Vending::new(
            store,
            providers,
            clock.clone(),
            engine.clone(),
            settings.vending.clone(),
            shared.zone(),
            traces,
        )?;
        let shared = Shared {
            web: Data::new(shared),
            identity: Data::new(identity),
            vending: Data::new(vending),
            destinations: Data::new(settings.webhooks.rules()?),
            certificates: Data::new(settings.certificates.keys()?),
        };
        let vending = shared.vending.clone();
        let (server, address) = listen(settings, clock, shared)?;
        let stop_notice = Duration::from_millis(settings.http.stop_notice_ms);
        let drain = Duration::from_secs(settings.http.drain_s);
        Ok(Self { server, address, observatory, engine, vending, stop_notice, drain })
    }

    /// The address of the monitoring listener.
    pub const fn observe_address(&self) -> SocketAddr {
        self.observatory.address()
    }

    /// The address on which it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` resolves. Then it reports itself as not ready, accepts nothing new, finishes the requests
    /// under way, and drains the engine.
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        self.vending.share_answers_from_now_on();
        self.vending.note_floats_from_now_on();
        let handle = self.server.handle();
        let mut serving = Box::pin(self.server);
        let announced = async {
            stop.await;
            self.observatory.stopping();
            tokio::time::sleep(self.stop_notice).await;
            self.vending.end_waits();
        };
        let served = tokio::select! {
            served = &mut serving => served,
            () = announced => {
                tracing::info!(under_way = self.engine.under_way(), "stopping");
                tokio::join!(handle.stop(true), serving).1
            }
        };
        self.engine.drain(self.drain).await;
        // Even if the server failed, the work under way is finished first.
        served.map_err(ServeError::Broke)
    }
}

/// The time after the deadline of a body for the answer about it. Then the connection is closed.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

fn listen(
    settings: &Settings,
    clock: SharedClock,
    shared: Shared,
) -> Result<(Server, SocketAddr), ServeError> {
    let refused = |source| ServeError::Listen { listen: settings.http.listen.clone(), source };
    let limits = HeadLimits {
        // Twice the application's limit. Here spaces and line ends count too.
        bytes_max: settings.web.head_bytes_max.saturating_mul(2),
        within: Duration::from_millis(settings.http.head_within_ms),
        body_within: Duration::from_millis(settings.web.body_within_ms).saturating_add(ANSWERED_WITHIN),
    };
    let facts = facts(&settings.web, &settings.identity, &settings.vending);
    let app = move || {
        App::new()
            .app_data(shared.web.clone())
            .app_data(shared.identity.clone())
            .app_data(shared.vending.clone())
            .app_data(shared.destinations.clone())
            .app_data(shared.certificates.clone())
            .wrap(from_fn(web::intake))
            .configure(http_v1::routes)
            .configure(openapi_v1::routes)
            .configure(http_legacy::routes)
            .configure(|config| api_docs::pages(config, &facts))
    };
    listener::listen(&settings.http, limits, clock, app).map_err(refused)
}
