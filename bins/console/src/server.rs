//! The HTTP server of the console.

use std::{io, net::SocketAddr, sync::Arc};

use actix_web::{
    App, HttpServer,
    dev::Server,
    middleware::DefaultHeaders,
    web::{Data, FormConfig},
};
use clock::SharedClock;
use database::{Database, DatabaseError, DatabaseSettings, Purpose};
use operator_commands::CommandSettings;
use tokio::runtime::Handle;

use crate::{
    cookie::Cookie,
    openid::{OpenId, OpenIdError},
    pages,
    sessions::Sessions,
    settings::{BadPublicUrl, Settings},
};

/// The longest form, in bytes.
const FORM_BYTES_MAX: usize = 16_384;

/// Nothing but our own stylesheet is loaded, no script runs, and no other site shows our pages or gets our forms.
const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What all threads share.
pub(crate) struct Shared {
    pub(crate) sessions: Sessions,
    pub(crate) cookie: Cookie,
    /// With the console's own login.
    pub(crate) database: Database,
    pub(crate) commands: CommandSettings,
    pub(crate) engine: Handle,
    /// Where operators may sign in besides.
    pub(crate) openid: Option<OpenId>,
}

/// A console that listens and does not serve yet.
pub struct Console {
    server: Server,
    address: SocketAddr,
}

/// Why a console does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The database cannot be reached, or its settings are not safe.
    #[error("the database cannot be used")]
    Database(#[from] DatabaseError),
    /// The settings of the console cannot be used.
    #[error("the console settings cannot be used")]
    PublicUrl(#[from] BadPublicUrl),
    /// The client of the OpenID provider cannot be made.
    #[error("the OpenID provider cannot be used")]
    OpenId(#[from] OpenIdError),
    /// The address cannot be listened on.
    #[error("the console cannot listen on {listen}")]
    Listen {
        /// The address.
        listen: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The server failed while it ran.
    #[error("the console failed")]
    Broke(#[source] io::Error),
}

impl Console {
    /// Connects with the console's own login, and listens. Must be called on an actix system.
    ///
    /// # Errors
    /// What prevents serving.
    pub async fn build(settings: Settings, engine: Handle, clock: SharedClock) -> Result<Self, ServeError> {
        let console = &settings.console;
        let mut small = DatabaseSettings::for_database(console.database_url.clone());
        small.pool_size = 2;
        "console".clone_into(&mut small.application_name);
        let database = Database::connect(small, Purpose::General, engine.clone()).await?;
        database.refuse_powerful_role().await?;
        database.refuse_shared_sessions().await?;
        let listen = console.listen().to_owned();
        let openid = settings
            .openid
            .map(|provider| OpenId::new(provider, console.public_url(), Arc::clone(&clock)))
            .transpose()?;
        let shared = Data::new(Shared {
            sessions: Sessions::new(clock),
            cookie: Cookie::new(console.is_encrypted()?),
            database,
            commands: console.commands(settings.sealing),
            engine,
            openid,
        });
        let refused = |source| ServeError::Listen { listen: listen.clone(), source };
        let server = HttpServer::new(move || {
            App::new()
                .app_data(shared.clone())
                .app_data(FormConfig::default().limit(FORM_BYTES_MAX))
                .wrap(
                    DefaultHeaders::new()
                        .add(("Content-Security-Policy", CONTENT_SECURITY_POLICY))
                        .add(("Cache-Control", "no-store"))
                        .add(("X-Content-Type-Options", "nosniff"))
                        .add(("Referrer-Policy", "no-referrer")),
                )
                .configure(pages::routes)
        });
        let server = server.workers(1).disable_signals().bind(&listen).map_err(refused)?;
        let address =
            server.addrs().first().copied().ok_or_else(|| refused(io::ErrorKind::AddrNotAvailable.into()))?;
        Ok(Self { server: server.run(), address })
    }

    /// The address on which it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` resolves, and finishes the requests under way.
    ///
    /// # Errors
    /// If the server fails.
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let handle = self.server.handle();
        let mut serving = Box::pin(self.server);
        let served = tokio::select! {
            served = &mut serving => served,
            () = stop => tokio::join!(handle.stop(true), serving).1,
        };
        served.map_err(ServeError::Broke)
    }
}
