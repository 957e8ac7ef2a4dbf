//! Starting the simulated world, and ending it.

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

use crate::{
    messaging, routes,
    settings::{SettingsError, SimulatorSettings},
    world::{OpeningError, World},
};

/// Longer than any client leaves a connection idle, so that it is never the server who closes one that is about to
/// be used.
const KEEP_ALIVE: Duration = Duration::from_mins(5);

/// A running simulator, on a thread of its own. Dropping it stops it.
#[derive(Debug)]
pub struct Simulator {
    address: SocketAddr,
    smtp_address: SocketAddr,
    server: ServerHandle,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// Why the simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The settings describe no possible world.
    #[error("the simulator's settings are wrong")]
    Settings(#[source] SettingsError),
    /// The file for the vend log cannot be opened, or holds something else.
    #[error("the vend log cannot be carried on with")]
    VendLog(#[source] io::Error),
    /// The file for the event log cannot be opened, or holds something else.
    #[error("the event log cannot be carried on with")]
    EventLog(#[source] io::Error),
    /// The address is taken, or the thread cannot be made.
    #[error("the simulator cannot listen on {address}")]
    Listen {
        /// Where it was to listen.
        address: SocketAddr,
        /// What prevented it.
        #[source]
        source: io::Error,
    },
}

impl Simulator {
    /// Starts a simulator and returns when it accepts connections. Needs no runtime of the caller's.
    pub fn start(settings: &SimulatorSettings, clock: SharedClock) -> Result<Self, StartError> {
        let world = World::open(settings, clock).map_err(|why| match why {
            OpeningError::Settings(source) => StartError::Settings(source),
            OpeningError::VendLog(source) => StartError::VendLog(source),
            OpeningError::EventLog(source) => StartError::EventLog(source),
        })?;
        let failed = |source| StartError::Listen { address: settings.listen, source };
        let (http, address) = listen(settings.listen)?;
        let (smtp, smtp_address) = listen(settings.messages.smtp_listen)?;
        let doors = Doors { http, smtp, workers: settings.workers };
        let (server, thread) = serve(world, doors).map_err(failed)?;
        Ok(Self { address, smtp_address, server, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base of its URLs, without a slash at the end: `http://127.0.0.1:4711`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where XMLVend requests are posted.
    pub fn xmlvend_url(&self) -> String {
        format!("{}/xmlvend", self.url())
    }

    /// The base of the airtime aggregator's authentication; tokens are asked for at `…/oauth/token`.
    pub fn reloadly_auth_url(&self) -> String {
        format!("{}/reloadly/auth", self.url())
    }

    /// The base of the airtime aggregator's interface, which is also the audience of its tokens.
    pub fn reloadly_topups_url(&self) -> String {
        format!("{}/reloadly/topups", self.url())
    }

    /// Where SMS are sent, as to Kannel's smsbox.
    pub fn sendsms_url(&self) -> String {
        format!("{}/cgi-bin/sendsms", self.url())
    }

    /// Where mail is brought.
    pub fn smtp_address(&self) -> SocketAddr {
        self.smtp_address
    }

    /// Stops at once: connections are cut, whoever waits for an answer gets none.
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
            // The command is on its way once the future exists; only its completion would have to be awaited.
            drop(self.server.stop(false));
            self.join();
        }
    }
}

type Serving = (ServerHandle, JoinHandle<io::Result<()>>);

/// Where it can be reached, and by how many threads.
struct Doors {
    http: TcpListener,
    smtp: TcpListener,
    workers: usize,
}

fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let bound = TcpListener::bind(address)
        .and_then(|listener| listener.local_addr().map(|address| (listener, address)));
    bound.map_err(|source| StartError::Listen { address, source })
}

fn serve(world: World, doors: Doors) -> io::Result<Serving> {
    let (made, handle) = std::sync::mpsc::sync_channel(1);
    let thread = std::thread::Builder::new().name("utility-sim".to_owned()).spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let post = Arc::clone(&world.post);
            let mail = mail_door(doors.smtp).map(|door| actix_web::rt::spawn(messaging::serve(door, post)));
            let server = mail.and_then(|_serves| server(world, doors.http, doors.workers));
            let kept = server.as_ref().map(Server::handle).map_err(|why| io::Error::from(why.kind()));
            // Nobody waits for the handle only if the caller is gone, and then there is nothing to tell.
            let _told = made.send(kept);
            server?.await
        })
    })?;
    let handle = handle.recv().map_err(io::Error::other)??;
    Ok((handle, thread))
}

/// It closes with the thread that it is made on.
fn mail_door(listener: TcpListener) -> io::Result<tokio::net::TcpListener> {
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener)
}

fn server(world: World, listener: TcpListener, workers: usize) -> io::Result<Server> {
    let world = Data::new(world);
    let server = HttpServer::new(move || App::new().app_data(world.clone()).configure(routes::configure))
        .workers(workers.max(1))
        .keep_alive(KEEP_ALIVE)
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}
