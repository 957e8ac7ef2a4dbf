//! One server: built, bound, run, drained.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::App;
use actix_web::dev::Server;
use actix_web::middleware::from_fn;
use actix_web::web::Data;
use boot::{Metrics, Observatory, ObserveError};
use clock::SharedClock;
use connections::ProviderSettingsError;
use identity::{Identity, IdentitySettingsError, SystemEntropy};
use purchase::TimingError;
use store::{SealError, Store, StoreError};
use vending::{Engine, Vending};
use web::{Front, HeadLimits, WebSettingsError};

use crate::listener;
use crate::settings::Settings;

/// A server that listens and has not been run yet.
pub struct ApiServer {
    server: Server,
    address: SocketAddr,
    observatory: Observatory,
    engine: Engine,
    stop_notice: Duration,
    drain: Duration,
}

/// Why a server does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The sealing keys cannot be used.
    #[error("the sealing keys cannot be used")]
    Sealing(#[from] SealError),
    /// The database is not there, or not fit to be trusted with money.
    #[error("the store cannot be used")]
    Store(#[from] StoreError),
    /// The settings of identity cannot be used.
    #[error("the identity settings cannot be used")]
    Identity(#[from] IdentitySettingsError),
    /// The lengths of the vending settings are safe only in their order.
    #[error("the vending settings cannot be used")]
    Vending(#[from] TimingError),
    /// The settings of a provider cannot be used.
    #[error("a provider cannot be connected")]
    Provider(#[from] ProviderSettingsError),
    /// The settings of the surfaces cannot be used.
    #[error("the web settings cannot be used")]
    Web(#[from] WebSettingsError),
    /// Nobody can listen there.
    #[error("the server cannot listen on {listen}")]
    Listen {
        /// Where.
        listen: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Nobody could watch it.
    #[error("the server cannot be watched")]
    Observe(#[from] ObserveError),
    /// The server broke while it ran.
    #[error("the server broke")]
    Broke(#[source] io::Error),
}

/// What every worker thread of a server shares.
#[derive(Clone)]
struct Shared {
    front: Data<Front>,
    identity: Data<Identity>,
    vending: Data<Vending>,
}

impl ApiServer {
    /// Puts the rooms together and listens. Must be called on an actix system.
    pub async fn build(
        settings: &Settings,
        metrics: &Metrics,
        engine: Engine,
        clock: SharedClock,
    ) -> Result<Self, ServeError> {
        let timing = settings.vending.timing();
        let keys = settings.sealing.keys()?;
        let store = Store::connect(settings.store.clone(), keys, timing, engine.runtime().clone()).await?;
        store.refuse_powerful_role().await?;
        let providers = connections::connect(&settings.providers, timing.provider_timeout, &clock)?;
        let identity = Identity::try_new(
            settings.identity.clone(),
            store.clone(),
            clock.clone(),
            Arc::new(SystemEntropy),
        )?;
        let front = Front::new(&settings.web, clock.clone())?.with_surface(http_current::Current);
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
            front.zone(),
        )?;
        let shared =
            Shared { front: Data::new(front), identity: Data::new(identity), vending: Data::new(vending) };
        let (server, address) = listen(settings, clock, shared)?;
        let stop_notice = Duration::from_millis(settings.http.stop_notice_ms);
        let drain = Duration::from_secs(settings.http.drain_s);
        Ok(Self { server, address, observatory, engine, stop_notice, drain })
    }

    /// Where whoever watches it may ask.
    pub const fn observe_address(&self) -> SocketAddr {
        self.observatory.address()
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` resolves; then says that it is not ready, takes nothing new in, lets what is under way end,
    /// and drains the engine.
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let handle = self.server.handle();
        let mut serving = Box::pin(self.server);
        let noticed = async {
            stop.await;
            self.observatory.stopping();
            tokio::time::sleep(self.stop_notice).await;
        };
        let served = tokio::select! {
            served = &mut serving => served,
            () = noticed => {
                tracing::info!(under_way = self.engine.under_way(), "stopping");
                tokio::join!(handle.stop(true), serving).1
            }
        };
        self.engine.drain(self.drain).await;
        // Broken or not, what was under way has been brought to its end first.
        served.map_err(ServeError::Broke)
    }
}

/// After the time of a body, for the answer that says so: then the connection ends.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

fn listen(
    settings: &Settings,
    clock: SharedClock,
    shared: Shared,
) -> Result<(Server, SocketAddr), ServeError> {
    let refused = |source| ServeError::Listen { listen: settings.http.listen.clone(), source };
    let limits = HeadLimits {
        // Twice as large as the application takes, which looks more closely: spaces and line ends count here.
        bytes_max: settings.web.head_bytes_max.saturating_mul(2),
        within: Duration::from_millis(settings.http.head_within_ms),
        body_within: Duration::from_millis(settings.web.body_within_ms).saturating_add(ANSWERED_WITHIN),
    };
    let app = move || {
        App::new()
            .app_data(shared.front.clone())
            .app_data(shared.identity.clone())
            .app_data(shared.vending.clone())
            .wrap(from_fn(web::intake))
            .configure(http_v1::routes)
            .configure(http_current::routes)
            .configure(handbook::pages)
    };
    listener::listen(&settings.http, limits, clock, app).map_err(refused)
}
