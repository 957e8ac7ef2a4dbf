//! A proxy to a database. It can cut the connection at a commit, before or after the server has done it. It
//! can also delay a commit for as long as the test needs. Writes that are sent together with a commit share its fate.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use local_postgres::LocalDatabase;

use crate::relay::Relay;

/// What happens to a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server commits. Its answer is dropped.
    Acknowledgement,
    /// It never reaches the server.
    Commit,
    /// It is delayed in a buffer on its way, and neither side notices, until [`Wire::delivers`] is called.
    Delay,
}

/// A proxy to one server. It exists until the process ends.
#[derive(Clone, Debug)]
pub struct Wire {
    relay: Relay,
    commits: Arc<Commits>,
}

/// What happens to the commits on the wire.
#[derive(Debug, Default)]
struct Commits {
    next: Mutex<Option<Cut>>,
    buffer: Buffer,
}

/// Holds a delayed commit.
#[derive(Debug, Default)]
struct Buffer {
    is_to_be_emptied: Mutex<bool>,
    said: Condvar,
}

impl Wire {
    /// Starts a proxy to the server of a database.
    ///
    /// # Errors
    /// When no port on loopback can be opened.
    pub fn to(database: &LocalDatabase) -> io::Result<Self> {
        let commits = Arc::new(Commits::default());
        let carries = commits.clone();
        let relay = Relay::start(database.port(), move |client, server| carries.carry(client, server))?;
        Ok(Self { relay, commits })
    }

    /// The same address of a database, through the proxy.
    #[must_use]
    pub fn through(&self, url: &str) -> String {
        self.relay.through(url)
    }

    /// Cuts the connection that commits next, at that commit.
    pub fn cut_at_next_commit(&self, cut: Cut) {
        *self.commits.next() = Some(cut);
    }

    /// Delivers the delayed commit.
    pub fn delivers(&self) {
        let buffer = &self.commits.buffer;
        *buffer.is_to_be_emptied.lock().unwrap_or_else(PoisonError::into_inner) = true;
        buffer.said.notify_one();
    }

    /// Whether the last cut was made.
    pub fn has_cut(&self) -> bool {
        self.commits.next().is_none()
    }
}

impl Commits {
    fn next(&self) -> MutexGuard<'_, Option<Cut>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn carry(&self, client: &TcpStream, server: &TcpStream) -> io::Result<()> {
        server.set_nodelay(true)?;
        client.set_nodelay(true)?;
        let is_muted = Arc::new(AtomicBool::new(false));
        let (from, to, muted) = (server.try_clone()?, client.try_clone()?, is_muted.clone());
        thread::spawn(move || answer(from, to, &muted).is_ok());
        let asked = self.ask(client, server, &is_muted);
        // The server finishes what it was asked. A client that waits for the answer sees that there is none.
        let _closed_before = server.shutdown(Shutdown::Write);
        asked
    }

    /// Forwards what the client sends.
    fn ask(&self, mut client: &TcpStream, mut server: &TcpStream, is_muted: &AtomicBool) -> io::Result<()> {
        let mut message = vec![0; 65_536];
        loop {
            let length = client.read(&mut message)?;
            let Some(said) = message.get(..length).filter(|said| !said.is_empty()) else { return Ok(()) };
            let commits = said.windows(6).any(|text| text == b"COMMIT");
            let cut = if commits { self.next().take() } else { None };
            match cut {
                None => server.write_all(said)?,
                Some(Cut::Delay) => {
                    self.buffer.keeps();
                    server.write_all(said)?;
                }
                Some(Cut::Commit) => return client.shutdown(Shutdown::Both),
                Some(Cut::Acknowledgement) => {
                    is_muted.store(true, Ordering::SeqCst);
                    return server.write_all(said);
                }
            }
        }
    }
}

impl Buffer {
    /// Waits until the delayed commit is to be delivered, once.
    fn keeps(&self) {
        let is_to_be_emptied = self.is_to_be_emptied.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.said.wait_while(is_to_be_emptied, |is_to_be_emptied| !*is_to_be_emptied);
        *waited.unwrap_or_else(PoisonError::into_inner) = false;
    }
}

/// Forwards what the server sends, until its answers are muted or the client is gone. From then on it only reads them, until
/// the server has done all that it was asked. A server that could not send its answer to a write would give up before the
/// commit that came with the write.
fn answer(mut server: TcpStream, mut client: TcpStream, is_muted: &AtomicBool) -> io::Result<()> {
    let mut message = vec![0; 65_536];
    loop {
        let length = server.read(&mut message)?;
        let Some(said) = message.get(..length).filter(|said| !said.is_empty()) else { break };
        if is_muted.load(Ordering::SeqCst) || client.write_all(said).is_err() {
            io::copy(&mut server, &mut io::sink())?;
            break;
        }
    }
    client.shutdown(Shutdown::Both)
}
