//! A small HTTP listener for monitoring: is the process alive, is it ready, and what has it counted.
//!
//! It has its own thread, so it answers while all other threads are busy, and until the process ends. It has no
//! authentication: bind it to loopback or to a network of the operator.

mod pages;
mod readiness;

use std::{
    fmt, io,
    net::{SocketAddr, TcpListener},
    pin::Pin,
    sync::{Arc, mpsc},
    thread,
};

use actix_web::dev::ServerHandle;
use clock::SharedClock;
use serde::Deserialize;
use thiserror::Error;

use crate::{BadListenAddress, Metrics, check_listen_address};

use readiness::{NotReady, Readiness};

/// Where the monitoring listener listens.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserveSettings {
    /// The address and the port of `/metrics`, `/healthz` and `/readyz`, without authentication. Use loopback or a
    /// network of your own. Port 0 takes a free port.
    pub listen: String,
}

/// The process's own answer to the readiness check. A process that has not answered after one second counts as not
/// ready.
type Answer = Pin<Box<dyn Future<Output = Result<(), NotReady>> + Send>>;

/// Why the process cannot be monitored.
#[derive(Debug, Error)]
pub enum ObserveError {
    /// The address cannot be listened on.
    #[error("the monitoring listener cannot listen on {listen}")]
    Listen {
        /// The address.
        listen: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The thread cannot be started.
    #[error("the monitoring thread cannot be started")]
    Thread(#[source] io::Error),
}

/// The monitoring listener. It is open until it is dropped.
#[derive(Debug)]
pub struct Observatory {
    address: SocketAddr,
    readiness: Arc<Readiness>,
    server: ServerHandle,
}

impl Default for ObserveSettings {
    fn default() -> Self {
        Self::on_port(9464)
    }
}

impl ObserveSettings {
    /// An address on loopback with this port.
    pub fn on_port(port: u16) -> Self {
        Self { listen: format!("127.0.0.1:{port}") }
    }

    /// Checks the settings at start-up.
    ///
    /// # Errors
    /// When the address is malformed.
    pub fn checked(&self) -> Result<(), BadListenAddress> {
        check_listen_address(&self.listen)
    }
}

impl Observatory {
    /// Opens the listener. `ready` is called for a readiness request, at most once every two seconds. A process is
    /// ready if it can do its work now. The text of an error is shown to the client, so it must be a phrase without
    /// secrets.
    ///
    /// # Errors
    /// When the address cannot be listened on, or the thread cannot be started.
    pub fn start<Asked, Why>(
        settings: &ObserveSettings,
        metrics: &Metrics,
        clock: SharedClock,
        ready: impl Fn() -> Asked + Send + Sync + 'static,
    ) -> Result<Self, ObserveError>
    where
        Asked: Future<Output = Result<(), Why>> + Send + 'static,
        Why: fmt::Display,
    {
        let refused = |source| ObserveError::Listen { listen: settings.listen.clone(), source };
        let listener = TcpListener::bind(&settings.listen).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let ask = move || -> Answer {
            let asked = ready();
            Box::pin(async move { asked.await.map_err(|why| NotReady::because(why.to_string())) })
        };
        let readiness = Arc::new(Readiness::new(clock, Box::new(ask)));
        let (says, hears) = mpsc::sync_channel(1);
        let (shown, counted) = (Arc::clone(&readiness), metrics.clone());
        thread::Builder::new()
            .name("observe".to_owned())
            .spawn(move || pages::serve(listener, shown, counted, &says))
            .map_err(ObserveError::Thread)?;
        let began = hears.recv().map_err(|gone| ObserveError::Thread(io::Error::other(gone)))?;
        Ok(Self { address, readiness, server: began.map_err(refused)? })
    }

    /// The address on which it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reports the process as not ready from now on. Call it before the process stops accepting work.
    pub fn stopping(&self) {
        self.readiness.stop();
    }
}

impl Drop for Observatory {
    fn drop(&mut self) {
        // The server is stopped at once. A monitoring request to a process that ends needs no answer.
        drop(self.server.stop(false));
    }
}
