//! A small door for whoever watches the process: is it alive, is it ready, what has it counted.
//!
//! It has a thread of its own, so that it answers while everything else is busy, and until the very end. It belongs
//! on loopback or in a network of the operator's: it asks nobody who they are.

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

/// Where the door is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserveSettings {
    /// Address and port.
    pub listen: String,
}

/// What the process itself says when it is asked whether it is ready; at most a second later it counts as not ready.
type Answer = Pin<Box<dyn Future<Output = Result<(), NotReady>> + Send>>;

/// Why nobody can watch.
#[derive(Debug, Error)]
pub enum ObserveError {
    /// Nobody can listen there.
    #[error("nobody can be told about this process on {listen}")]
    Listen {
        /// Where.
        listen: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// There is no thread for it.
    #[error("the thread for whoever watches cannot be started")]
    Thread(#[source] io::Error),
}

/// The door, open until it is dropped.
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
    /// On loopback.
    pub fn on_port(port: u16) -> Self {
        Self { listen: format!("127.0.0.1:{port}") }
    }

    /// Checked at start-up.
    ///
    /// # Errors
    /// When nobody can listen at such an address.
    pub fn checked(&self) -> Result<(), BadListenAddress> {
        check_listen_address(&self.listen)
    }
}

impl Observatory {
    /// Opens the door. `ready` is asked when somebody asks, and every few seconds at most: a process is ready if it
    /// can do its work now. What it says instead is shown to whoever asks: a phrase without secrets.
    ///
    /// # Errors
    /// When nobody can listen there, or there are no threads.
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

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on the process is not ready, whatever it can do: to be said before it takes nothing new in.
    pub fn stopping(&self) {
        self.readiness.stop();
    }
}

impl Drop for Observatory {
    fn drop(&mut self) {
        // Told at once; who watches a process that ends needs no last answer.
        drop(self.server.stop(false));
    }
}
