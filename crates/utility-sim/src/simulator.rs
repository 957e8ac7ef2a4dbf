//! Starts and stops the simulator.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use actix_web::{
    App, HttpServer,
    dev::{Server, ServerHandle},
    web::Data,
};
use clock::SharedClock;
use tokio_rustls::TlsAcceptor;

use crate::{
    routes,
    settings::{SettingsError, SimulatorSettings},
    tls,
    world::{OpeningError, World},
};

/// Longer than any client keeps a connection idle, so the server never closes a connection that a client is about to
/// use.
const KEEP_ALIVE: Duration = Duration::from_mins(5);

/// A running simulator on its own thread. Dropping it stops it.
#[derive(Debug)]
pub struct Simulator {
    address: SocketAddr,
    smtp_address: SocketAddr,
    tls_address: Option<SocketAddr>,
    world: Data<World>,
    server: ServerHandle,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// Why the simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The settings cannot be used.
    #[error("the simulator's settings are wrong")]
    Settings(#[source] SettingsError),
    /// The vend log cannot be opened, or contains something else.
    #[error("the vend log cannot be used")]
    VendLog(#[source] io::Error),
    /// The event log cannot be opened, or contains something else.
    #[error("the event log cannot be used")]
    EventLog(#[source] io::Error),
    /// The certificate or the private key of the address with TLS cannot be used.
    #[error("the simulator's certificate cannot be used")]
    Tls(#[source] io::Error),
    /// The address is taken, or the thread cannot be started.
    #[error("the simulator cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl Simulator {
    /// Starts a simulator and returns when it accepts connections. Does not need a runtime of the caller.
    pub fn start(settings: &SimulatorSettings, clock: SharedClock) -> Result<Self, StartError> {
        let world = World::open(settings, clock).map_err(|why| match why {
            OpeningError::Settings(source) => StartError::Settings(source),
            OpeningError::VendLog(source) => StartError::VendLog(source),
            OpeningError::EventLog(source) => StartError::EventLog(source),
        })?;
        let failed = |source| StartError::Listen { address: settings.listen, source };
        let (http, address) = listen(settings.listen)?;
        let (smtp, smtp_address) = listen(settings.messages.smtp_listen)?;
        let (tls, tls_address) = match &settings.tls {
            Some(tls) => {
                let acceptor = tls::acceptor(tls).map_err(StartError::Tls)?;
                let (listener, address) = listen(tls.listen)?;
                (Some((listener, acceptor)), Some(address))
            }
            None => (None, None),
        };
        let listeners = Listeners { http, smtp, tls, workers: settings.workers };
        let world = Data::new(world);
        let (server, thread) = serve(world.clone(), listeners, address).map_err(failed)?;
        Ok(Self { address, smtp_address, tls_address, world, server, thread: Some(thread) })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base of its URLs, without a slash at the end: `http://127.0.0.1:4711`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base of its URLs with TLS: `https://localhost:4711`. `None` if it does not speak TLS.
    pub fn https_url(&self) -> Option<String> {
        self.tls_address.map(|address| format!("https://localhost:{}", address.port()))
    }

    /// The state that requests share.
    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    /// The address for XMLVend requests.
    pub fn xmlvend_url(&self) -> String {
        format!("{}/xmlvend", self.url())
    }

    /// The base of the airtime aggregator's authentication. Access tokens are issued at `…/oauth/token`.
    pub fn reloadly_auth_url(&self) -> String {
        format!("{}/reloadly/auth", self.url())
    }

    /// The base of the airtime aggregator's interface, which is also the audience of its access tokens.
    pub fn reloadly_topups_url(&self) -> String {
        format!("{}/reloadly/topups", self.url())
    }

    /// The base of the interface of the aggregator of electricity, without `/pay`.
    pub fn vtpass_url(&self) -> String {
        format!("{}/vtpass/api", self.url())
    }

    /// The address for SMS, as of Kannel's smsbox.
    pub fn sendsms_url(&self) -> String {
        format!("{}/cgi-bin/sendsms", self.url())
    }

    /// The address for mail.
    pub fn smtp_address(&self) -> SocketAddr {
        self.smtp_address
    }

    /// Stops at once: connections are cut, and pending requests get no answer.
    pub async fn stop(mut self) {
        self.server.stop(false).await;
        self.join();
    }

    fn join(&mut self) {
        let outcome = self.thread.take().map(JoinHandle::join);
        if let Some(Ok(Err(why))) = outcome {
            tracing::warn!(%why, "the simulator ended badly");
        }
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // The command is sent when the future is created. Only its completion would have to be awaited.
            drop(self.server.stop(false));
            self.join();
        }
    }
}

type Serving = (ServerHandle, JoinHandle<io::Result<()>>);

/// The listeners and the number of worker threads.
struct Listeners {
    http: TcpListener,
    smtp: TcpListener,
    tls: Option<(TcpListener, TlsAcceptor)>,
    workers: usize,
}

fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let bound = TcpListener::bind(address)
        .and_then(|listener| listener.local_addr().map(|address| (listener, address)));
    bound.map_err(|source| StartError::Listen { address, source })
}

fn serve(world: Data<World>, listeners: Listeners, address: SocketAddr) -> io::Result<Serving> {
    let (made, handle) = std::sync::mpsc::sync_channel(1);
    let thread = std::thread::Builder::new().name("utility-sim".to_owned()).spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let post = Arc::clone(&world.post);
            let mail = local_listener(listeners.smtp)
                .map(|listener| actix_web::rt::spawn(message_sim::serve(listener, post)));
            let encrypted = listeners.tls.map_or(Ok(()), |(listener, acceptor)| {
                let listener = local_listener(listener)?;
                actix_web::rt::spawn(tls::serve(listener, acceptor, address));
                Ok(())
            });
            let server =
                mail.and(encrypted).and_then(|_serves| server(world, listeners.http, listeners.workers));
            let kept = server.as_ref().map(Server::handle).map_err(|why| io::Error::from(why.kind()));
            // The receiver is gone only if the caller is gone.
            let _sent = made.send(kept);
            server?.await
        })
    })?;
    let handle = handle.recv().map_err(io::Error::other)??;
    Ok((handle, thread))
}

/// The listener closes with the thread that creates it.
fn local_listener(listener: TcpListener) -> io::Result<tokio::net::TcpListener> {
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener)
}

fn server(world: Data<World>, listener: TcpListener, workers: usize) -> io::Result<Server> {
    let server = HttpServer::new(move || App::new().app_data(world.clone()).configure(routes::configure))
        .workers(workers.max(1))
        .keep_alive(KEEP_ALIVE)
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}
