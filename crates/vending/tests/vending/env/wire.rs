//! The wire between a vending service and its database. It can be cut, it can lose a commit or its answer,
//! and it can delay transactions.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The part of a commit that is lost. The connection breaks in both cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The commit itself: nothing is stored.
    Commit,
    /// The server's acknowledgement: the commit is stored.
    Acknowledgement,
}

/// The answer to a commit behind a failed write (SQLSTATE `in_failed_sql_transaction`).
const REFUSED: &[u8] = b"25P02";

pub struct Wire {
    from: u16,
    to: u16,
    state: Arc<State>,
}

struct State {
    is_cut: watch::Sender<bool>,
    turned_away: AtomicU32,
    /// What happens to the next commits: `None` for a commit that passes.
    commits: Mutex<VecDeque<Option<Lost>>>,
    holds_back: watch::Sender<bool>,
    held_back: AtomicU32,
}

impl Wire {
    /// A wire to the server on this port.
    pub async fn to(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let from = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            is_cut: watch::Sender::new(false),
            turned_away: AtomicU32::new(0),
            commits: Mutex::default(),
            holds_back: watch::Sender::new(false),
            held_back: AtomicU32::new(0),
        });
        tokio::spawn(serve(listener, port, state.clone()));
        Self { from, to: port, state }
    }

    /// A database's address through this wire.
    pub fn address(&self, url: &str) -> String {
        url.replace(&format!(":{}/", self.to), &format!(":{}/", self.from))
    }

    /// Breaks every connection and accepts no new one.
    pub fn is_cut(&self) {
        self.state.is_cut.send_replace(true);
    }

    pub fn is_restored(&self) {
        self.state.is_cut.send_replace(false);
    }

    /// How many connections were refused while it was cut.
    pub fn turned_away(&self) -> u32 {
        self.state.turned_away.load(Ordering::Relaxed)
    }

    /// Lets this many commits through before it loses any.
    pub fn spares(&self, commits: usize) {
        self.state.commits().extend(vec![None; commits]);
    }

    /// Loses the next commits in these ways.
    pub fn loses(&self, losses: impl IntoIterator<Item = Lost>) {
        self.state.commits().extend(losses.into_iter().map(Some));
    }

    /// Loses nothing from now on.
    pub fn loses_nothing(&self) {
        self.state.commits().clear();
    }

    /// Whether everything that was to be lost has been lost.
    pub fn has_lost_all(&self) -> bool {
        self.state.commits().is_empty()
    }

    /// Delays the begin of every transaction.
    pub fn holds_back(&self) {
        self.state.holds_back.send_replace(true);
    }

    /// Lets the delayed transactions begin.
    pub fn lets_continue(&self) {
        self.state.holds_back.send_replace(false);
    }

    /// How many transactions were delayed.
    pub fn held_back(&self) -> u32 {
        self.state.held_back.load(Ordering::Relaxed)
    }
}

impl State {
    fn commits(&self) -> MutexGuard<'_, VecDeque<Option<Lost>>> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while transactions are held back.
    async fn may_begin(&self) {
        let mut holds_back = self.holds_back.subscribe();
        if *holds_back.borrow_and_update() {
            self.held_back.fetch_add(1, Ordering::Relaxed);
        }
        // A wire that is gone delays nothing.
        let _gone = holds_back.wait_for(|held| !held).await;
    }
}

async fn serve(listener: TcpListener, port: u16, state: Arc<State>) {
    while let Ok((client, _)) = listener.accept().await {
        if *state.is_cut.borrow() {
            state.turned_away.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        tokio::spawn(relay(client, server, state.clone()));
    }
}

/// Forwards bytes both ways until one end closes or the wire is cut. Then both ends are closed.
async fn relay(mut client: TcpStream, mut server: TcpStream, state: Arc<State>) {
    let mut is_cut = state.is_cut.subscribe();
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut loses_the_answer = false;
    loop {
        tokio::select! {
            () = becomes_cut(&mut is_cut) => return,
            read = client.read(&mut up) => {
                let Ok(length @ 1..) = read else { return };
                let message = up.get(..length).unwrap_or_default();
                if says(message, b"BEGIN") {
                    state.may_begin().await;
                }
                if says(message, b"COMMIT") {
                    let becomes = state.commits().pop_front().flatten();
                    match becomes {
                        Some(Lost::Commit) => return,
                        Some(Lost::Acknowledgement) => loses_the_answer = true,
                        None => {}
                    }
                }
                if server.write_all(message).await.is_err() { return }
            }
            read = server.read(&mut down) => {
                let Ok(length @ 1..) = read else { return };
                let message = down.get(..length).unwrap_or_default();
                if loses_the_answer {
                    // The answers to the writes come first. A server that could not send them would give up before the
                    // commit.
                    if says(message, b"COMMIT") || says(message, REFUSED) { return }
                } else if client.write_all(message).await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn becomes_cut(is_cut: &mut watch::Receiver<bool>) {
    // A wire that is gone counts as cut.
    let _gone = is_cut.wait_for(|cut| *cut).await;
}

/// A statement that begins or ends a transaction is sent as text, and its word is the answer to it. The others are prepared
/// before: their texts have none of these words.
fn says(message: &[u8], word: &[u8]) -> bool {
    message.windows(word.len()).any(|part| part == word)
}
