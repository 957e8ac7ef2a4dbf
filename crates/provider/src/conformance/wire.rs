//! A proxy between an HTTP adapter and its provider's simulator. It injects network faults.
//!
//! Network faults are the same for every protocol over HTTP. So a world whose simulator speaks plain HTTP puts a
//! [`Wire`] in front of it and gives it to the kit. The kit then cuts, silences, garbles and redirects answers, and
//! counts the requests that arrive.

mod http;
mod serving;

use std::{
    collections::{BTreeSet, VecDeque},
    fmt, io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use super::{Mishap, Operation};

use serving::Breakage;

pub use http::{Answer, Request};

/// A proxy that the adapter connects to instead of its provider. Every answer ends its connection.
pub struct Wire {
    shared: Arc<Shared>,
    address: SocketAddr,
    elsewhere: SocketAddr,
}

/// Whether a request is the one that the adapter sends for an operation.
type Recognise = Box<dyn Fn(&Request<'_>, Operation) -> bool + Send + Sync>;

/// The state that all connections share.
struct Shared {
    upstream: Upstream,
    is: Recognise,
    elsewhere: SocketAddr,
    state: Mutex<State>,
    /// Notified when a connection is opened.
    changed: Condvar,
    closed: AtomicBool,
}

enum Upstream {
    Server(SocketAddr),
    Here(Box<dyn Fn(&Request<'_>) -> Answer + Send + Sync>),
}

#[derive(Default)]
struct State {
    scripts: VecDeque<(Operation, Script)>,
    received: Vec<Operation>,
    strayed: usize,
    /// How many connections were opened so far, and which of them are still open.
    made: u64,
    standing: BTreeSet<u64>,
}

/// What happens to one request.
enum Script {
    Break(Breakage),
    Rewrite(Box<dyn FnOnce(&str) -> String + Send>),
}

const OPERATIONS: [Operation; 5] =
    [Operation::Check, Operation::Quote, Operation::Trial, Operation::Vend, Operation::Enquiry];

impl Wire {
    /// A wire to a simulator that listens at an address. `is` returns whether a request is the one that the adapter
    /// sends for an operation. One request may belong to several operations.
    ///
    /// # Errors
    /// If no port can be opened on loopback.
    pub fn to(
        server: SocketAddr,
        is: impl Fn(&Request<'_>, Operation) -> bool + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::open(Upstream::Server(server), Box::new(is))
    }

    /// A wire to a simulator in the same process. It is called with every request that is forwarded.
    ///
    /// # Errors
    /// If no port can be opened on loopback.
    pub fn to_function(
        answers: impl Fn(&Request<'_>) -> Answer + Send + Sync + 'static,
        is: impl Fn(&Request<'_>, Operation) -> bool + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::open(Upstream::Here(Box::new(answers)), Box::new(is))
    }

    fn open(upstream: Upstream, is: Recognise) -> io::Result<Self> {
        let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let (here, elsewhere) = (listen()?, listen()?);
        let addresses = (here.local_addr()?, elsewhere.local_addr()?);
        let shared = Arc::new(Shared {
            upstream,
            is,
            elsewhere: addresses.1,
            state: Mutex::default(),
            changed: Condvar::new(),
            closed: AtomicBool::new(false),
        });
        for (listener, is_elsewhere) in [(here, false), (elsewhere, true)] {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name("wire".to_owned()).spawn(move || {
                serving::listen(&shared, &listener, is_elsewhere);
            })?;
        }
        Ok(Self { shared, address: addresses.0, elsewhere: addresses.1 })
    }

    /// The URL that the adapter must use, such as `http://127.0.0.1:4711`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Arranges this mishap for the next request of an operation. Returns false if it is not a network fault.
    pub fn arrange(&self, operation: Operation, mishap: Mishap) -> bool {
        let breakage = Breakage::of(mishap);
        let script = breakage.map(|breakage| (operation, Script::Break(breakage)));
        self.shared.state().scripts.extend(script);
        breakage.is_some()
    }

    /// Rewrites the body of the next answer to an operation. The simulator is asked for an uncompressed answer.
    pub fn rewrite(&self, operation: Operation, change: impl FnOnce(&str) -> String + Send + 'static) {
        self.shared.state().scripts.push_back((operation, Script::Rewrite(Box::new(change))));
    }

    /// Whether an arranged mishap has not happened yet.
    pub fn is_pending(&self) -> bool {
        !self.shared.state().scripts.is_empty()
    }

    /// Drops every arranged mishap that has not happened yet.
    pub fn clear(&self) {
        self.shared.state().scripts.clear();
    }

    /// The number of complete requests of an operation that have arrived.
    pub fn received(&self, operation: Operation) -> usize {
        self.shared.state().received.iter().filter(|received| **received == operation).count()
    }

    /// The number of requests that have followed a redirect.
    pub fn strayed(&self) -> usize {
        self.shared.state().strayed
    }

    /// A probe for connections that are opened from now on. It can be moved to another thread.
    pub(super) fn probe(&self) -> Probe {
        Probe { shared: Arc::clone(&self.shared), since: self.shared.state().made }
    }
}

/// Observes the connections of a wire.
pub(super) struct Probe {
    shared: Arc<Shared>,
    since: u64,
}

impl Probe {
    /// Whether such a connection is open or is opened within this time. Blocks this thread meanwhile.
    pub(super) fn is_connected_within(&self, patience: Duration) -> bool {
        let none = |state: &mut State| state.standing.range(self.since..).next().is_none();
        let waited = self.shared.changed.wait_timeout_while(self.shared.state(), patience, none);
        let (mut state, _timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
        !none(&mut state)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request, and takes the script for it.
    fn take(&self, request: &Request<'_>) -> Option<Script> {
        let mut state = self.state();
        let operations = OPERATIONS.into_iter().filter(|operation| (self.is)(request, *operation));
        state.received.extend(operations);
        let due = state.scripts.iter().position(|(operation, _script)| (self.is)(request, *operation))?;
        state.scripts.remove(due).map(|(_operation, script)| script)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
        for address in [self.address, self.elsewhere] {
            // A connection wakes the thread that waits in `accept`, so that it can end.
            let _not_listening = TcpStream::connect(address);
        }
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Wire").field("address", &self.address).finish_non_exhaustive()
    }
}
