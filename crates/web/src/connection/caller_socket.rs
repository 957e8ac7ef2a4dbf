//! A caller's connection as the kernel sees it: since when its last byte lies here, and whether its other end is closed.
//!
//! A server that was stopped reads requests late, and must not take them for new. No time that it measures itself tells,
//! so the kernel is asked (Linux, `TCP_INFO`). Elsewhere a request is as old as its reading.

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use clock::{Monotonic, SharedClock};
use vending::CallerConnection;

/// Longer than a connection waits to be accepted by a server that takes its requests for new.
const UNACCEPTED: Duration = Duration::from_secs(30);

/// Watches connections as they are accepted. One for the whole server.
///
/// A connection may have waited to be accepted, with a request on it, while the machine was suspended. So it remembers how
/// long the machine had been suspended some time ago.
#[derive(Debug)]
pub struct CallerSockets {
    clock: SharedClock,
    noted: Mutex<Noted>,
}

/// How long the machine had been suspended: lately, when it had been awake for so long, and some time before that.
#[derive(Clone, Copy, Debug)]
struct Noted {
    before: Duration,
    lately: Duration,
    awake: Duration,
}

impl CallerSockets {
    /// At the start of the server.
    pub fn new(clock: SharedClock) -> Self {
        let suspended = clock.suspended();
        let awake = clock.monotonic().since_origin().saturating_sub(suspended);
        let noted = Mutex::new(Noted { before: suspended, lately: suspended, awake });
        Self { clock, noted }
    }

    /// Of a connection that was just accepted.
    pub fn of(&self, socket: &impl AsFd) -> CallerSocket {
        let socket = socket.as_fd().try_clone_to_owned();
        let socket =
            socket.inspect_err(|error| tracing::warn!(%error, "a connection cannot be watched")).ok();
        CallerSocket { socket, clock: self.clock.clone(), suspended: Mutex::new(self.suspended_before()) }
    }

    /// How long the machine had been suspended when the oldest connection that is accepted now was made.
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

/// The kernel counts in ticks: what it tells may be short by one. The longest that it is built with.
const TICK: Duration = Duration::from_millis(10);

/// The connection that a request came over. It ends when the HTTP server has done with it.
#[derive(Debug)]
pub struct CallerSocket {
    /// None where the process could open no more files: then nothing is bought over the connection.
    socket: Option<OwnedFd>,
    clock: SharedClock,
    /// How long the machine had been suspended when the connection was last known to be younger than that.
    suspended: Mutex<Duration>,
}

/// What a purchase knows of its caller. It keeps no connection open.
#[derive(Debug)]
struct CallerOf(Weak<CallerSocket>);

impl CallerSocket {
    /// When the last byte that has arrived reached this machine; none where the system does not tell.
    ///
    /// The kernel's own measure stands still while the machine is suspended. So all the time of suspension since before
    /// the connection was made, or since this was last asked, is added: a request may be taken for older than it is, and not
    /// for younger. The clock is read first, for the same reason.
    pub(crate) fn last_byte_at(&self) -> Option<Monotonic> {
        let now = self.clock.monotonic();
        let unread = kernel::state_of(self.socket.as_ref()?)?.since_last_byte.saturating_add(TICK);
        let suspended = self.clock.suspended();
        let mut noted = self.suspended.lock().unwrap_or_else(PoisonError::into_inner);
        let asleep = suspended.saturating_sub(*noted);
        *noted = suspended;
        Some(Monotonic::from_origin(now.since_origin().saturating_sub(unread.saturating_add(asleep))))
    }

    /// For a purchase, which may outlive the connection.
    pub(crate) fn watched(self: &Arc<Self>) -> Arc<dyn CallerConnection> {
        Arc::new(CallerOf(Arc::downgrade(self)))
    }

    /// Whether the caller has closed its end, or the connection broke. Where the system does not tell, it counts as open.
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

/// What the kernel tells about a connection.
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
            assert!(SystemClock.monotonic().elapsed_since(started) < Duration::from_secs(20), "never");
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
        assert!(age(&sockets.of(&served)) < Duration::from_mins(10), "that was long ago");
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
