//! The kernel's view of a caller's connection: when its last byte arrived, and whether its other end is closed.
//!
//! A server that was stopped reads requests late and must not treat them as new. It cannot measure the delay itself, so
//! it asks the kernel (Linux, `TCP_INFO`). On other systems a request counts from the moment when it is read.

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use clock::{Monotonic, SharedClock};
use vending::CallerConnection;

/// Longer than a connection waits to be accepted by a server that treats its requests as new.
const UNACCEPTED: Duration = Duration::from_secs(30);

/// Watches connections as they are accepted. There is one for the whole server.
///
/// A connection may have waited to be accepted, with a request on it, while the machine was suspended. So this also
/// remembers the suspended time as it was some time ago.
#[derive(Debug)]
pub struct CallerSockets {
    clock: SharedClock,
    noted: Mutex<Noted>,
}

/// The total suspended time of the machine: `lately` when its awake time was `awake`, and `before` some time earlier.
#[derive(Clone, Copy, Debug)]
struct Noted {
    before: Duration,
    lately: Duration,
    awake: Duration,
}

impl CallerSockets {
    /// Called at the start of the server.
    pub fn new(clock: SharedClock) -> Self {
        let suspended = clock.suspended();
        let awake = clock.monotonic().since_origin().saturating_sub(suspended);
        let noted = Mutex::new(Noted { before: suspended, lately: suspended, awake });
        Self { clock, noted }
    }

    /// Watches a connection that was just accepted.
    pub fn of(&self, socket: &impl AsFd) -> CallerSocket {
        let socket = socket.as_fd().try_clone_to_owned();
        let socket =
            socket.inspect_err(|error| tracing::warn!(%error, "a connection cannot be watched")).ok();
        CallerSocket { socket, clock: self.clock.clone(), suspended: Mutex::new(self.suspended_before()) }
    }

    /// The total suspended time of the machine when the oldest connection that is accepted now was made.
    fn suspended_before(&self) -> Duration {
        let now = self.clock.monotonic().since_origin();
        let suspended = self.clock.suspended();
        let awake = now.saturating_sub(suspended);
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if awake.saturating_sub(noted.awake) >= UNACCEPTED {
            *noted = Noted { before: noted.lately, lately: suspended, awake };
        }
        noted.before
    }
}

/// The kernel counts in ticks, so its value may be short by one tick. This is the longest tick that a kernel is built
/// with.
const TICK: Duration = Duration::from_millis(10);

/// The connection of a request. It ends when the HTTP server is finished with it.
#[derive(Debug)]
pub struct CallerSocket {
    /// `None` if the process could not open another file. Then nothing is bought over the connection.
    socket: Option<OwnedFd>,
    clock: SharedClock,
    /// The total suspended time of the machine at the last call of `last_byte_at`, or before the connection was made.
    suspended: Mutex<Duration>,
}

/// A purchase's view of its caller. It does not keep the connection open.
#[derive(Debug)]
struct CallerOf(Weak<CallerSocket>);

impl CallerSocket {
    /// When the last byte that has arrived reached this machine; `None` where the system does not report it.
    ///
    /// The kernel's own measure stops while the machine is suspended. So all suspended time since before the connection
    /// was made, or since the last call, is added. A request may be taken for older than it is, but never for younger.
    /// The clock is read first, for the same reason.
    pub(crate) fn last_byte_at(&self) -> Option<Monotonic> {
        let now = self.clock.monotonic();
        let unread = kernel::state_of(self.socket.as_ref()?)?.since_last_byte.saturating_add(TICK);
        let suspended = self.clock.suspended();
        let mut noted = self.suspended.lock().unwrap_or_else(PoisonError::into_inner);
        let asleep = suspended.saturating_sub(*noted);
        *noted = suspended;
        Some(Monotonic::from_origin(now.since_origin().saturating_sub(unread.saturating_add(asleep))))
    }

    /// A view for a purchase, which may outlive the connection.
    pub(crate) fn watched(self: &Arc<Self>) -> Arc<dyn CallerConnection> {
        Arc::new(CallerOf(Arc::downgrade(self)))
    }

    /// Whether the caller has closed its end, or the connection broke. Where the system does not report it, the
    /// connection counts as open.
    fn is_closed(&self) -> bool {
        let Some(socket) = &self.socket else { return true };
        kernel::state_of(socket).is_some_and(|state| !state.is_established)
    }
}

impl CallerConnection for CallerOf {
    fn is_closed(&self) -> bool {
        self.0.upgrade().is_none_or(|socket| socket.is_closed())
    }
}

/// The kernel's report about a connection.
#[derive(Clone, Copy, Debug)]
struct State {
    since_last_byte: Duration,
    is_established: bool,
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::{os::fd::OwnedFd, time::Duration};

    use nix::{getsockopt_impl, sockopt_impl, sys::socket::getsockopt};

    use super::State;

    sockopt_impl!(
        /// `tcp(7)`, `TCP_INFO`.
        TcpInfo,
        GetOnly,
        libc::IPPROTO_TCP,
        libc::TCP_INFO,
        libc::tcp_info
    );

    /// `TCP_ESTABLISHED` of the kernel's `include/net/tcp_states.h`: both ends are open.
    const ESTABLISHED: u8 = 1;

    pub(super) fn state_of(socket: &OwnedFd) -> Option<State> {
        let info = getsockopt(socket, TcpInfo).ok()?;
        Some(State {
            since_last_byte: Duration::from_millis(u64::from(info.tcpi_last_data_recv)),
            is_established: info.tcpi_state == ESTABLISHED,
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::os::fd::OwnedFd;

    use super::State;

    pub(super) fn state_of(_socket: &OwnedFd) -> Option<State> {
        None
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        net::{Shutdown, TcpListener, TcpStream},
    };

    use chrono::DateTime;
    use clock::{Clock, ManualClock, SystemClock};

    use super::*;

    const LONG: Duration = Duration::from_millis(200);

    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (caller, listener.accept().unwrap().0)
    }

    fn until(mut it_is_so: impl FnMut() -> bool) {
        let started = SystemClock.monotonic();
        while !it_is_so() {
            assert!(SystemClock.monotonic().elapsed_since(started) < Duration::from_secs(20), "not in time");
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_lies_unread_grows_older_and_what_arrives_is_new() {
        let (mut caller, served) = connected();
        let socket = CallerSockets::new(Arc::new(SystemClock)).of(&served);
        let age = || SystemClock.monotonic().elapsed_since(socket.last_byte_at().unwrap());
        caller.write_all(b"an order").unwrap();
        until(|| age() >= LONG);
        caller.write_all(b" and another").unwrap();
        until(|| age() < LONG);
    }

    #[test]
    fn a_suspension_before_the_connection_was_accepted_makes_its_first_request_older() {
        let (mut caller, served) = connected();
        let clock = ManualClock::at(DateTime::UNIX_EPOCH);
        let sockets = CallerSockets::new(Arc::new(clock.clone()));
        let age = |socket: &CallerSocket| clock.monotonic().elapsed_since(socket.last_byte_at().unwrap());
        caller.write_all(b"an order").unwrap();
        clock.advance(Duration::from_hours(1));
        clock.suspend(Duration::from_mins(10));
        assert!(age(&sockets.of(&served)) >= Duration::from_mins(10));
        clock.advance(UNACCEPTED);
        assert!(age(&sockets.of(&served)) < Duration::from_mins(10), "the suspension was long ago");
    }

    #[test]
    fn all_suspension_since_it_was_last_asked_makes_a_request_older() {
        let (mut caller, served) = connected();
        let clock = ManualClock::at(DateTime::UNIX_EPOCH);
        clock.advance(Duration::from_hours(1));
        let socket = CallerSockets::new(Arc::new(clock.clone())).of(&served);
        caller.write_all(b"an order").unwrap();
        let age = || clock.monotonic().elapsed_since(socket.last_byte_at().unwrap());
        assert!(age() < Duration::from_mins(1));
        clock.suspend(Duration::from_mins(10));
        assert!(age() >= Duration::from_mins(10));
        assert!(age() < Duration::from_mins(1), "what came afterwards is new");
    }

    #[test]
    fn a_caller_that_hangs_up_or_says_no_more_is_gone() {
        for how in [Shutdown::Both, Shutdown::Write] {
            let (caller, served) = connected();
            let socket = Arc::new(CallerSockets::new(Arc::new(SystemClock)).of(&served));
            let watched = socket.watched();
            assert!(!watched.is_closed());
            caller.shutdown(how).unwrap();
            until(|| watched.is_closed());
        }
    }

    #[test]
    fn a_connection_that_the_server_has_done_with_is_closed() {
        let (_caller, served) = connected();
        let socket = Arc::new(CallerSockets::new(Arc::new(SystemClock)).of(&served));
        let watched = socket.watched();
        assert!(!watched.is_closed());
        drop(socket);
        assert!(watched.is_closed());
    }
}
