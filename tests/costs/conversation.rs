//! What a server and its database say to each other (PostgreSQL, chapter 55), counted by a relay.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use local_postgres::LocalDatabase;
use test_kit::relay::Relay;

/// How long an answer is under way. A busy machine lets time pass between two statements that a program sends one after the other
/// without waiting. On a slow network both are sent before the first answer arrives, as they are meant to be.
const LATENCY: Duration = Duration::from_millis(5);

/// The counters of all connections.
#[derive(Debug, Default)]
pub struct Conversation {
    statements: AtomicU64,
    round_trips: AtomicU64,
}

/// What was said in a conversation so far.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    /// Statements that were run, `BEGIN` and `COMMIT` included.
    pub statements: u64,
    /// How often the server program waited for the database. Statements that are sent together are one round trip.
    pub round_trips: u64,
}

impl Conversation {
    /// Starts a relay to the server of a database.
    pub fn relay_to(database: &LocalDatabase) -> (Relay, Arc<Self>) {
        let counts = Arc::new(Self::default());
        let counted = counts.clone();
        let relay = Relay::start(database.port(), move |client, server| counted.carry(client, server));
        (relay.unwrap(), counts)
    }

    /// What was said until now.
    pub fn said(&self) -> Said {
        Said {
            statements: self.statements.load(Ordering::SeqCst),
            round_trips: self.round_trips.load(Ordering::SeqCst),
        }
    }

    fn carry(&self, client: &TcpStream, server: &TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let awaited = Arc::new(AtomicU64::new(0));
        let (from, to, answered) = (server.try_clone()?, client.try_clone()?, awaited.clone());
        thread::spawn(move || forward_answers(from, to, &answered).is_ok());
        let asked = self.forward_questions(client, server, &awaited);
        let _closed_before = server.shutdown(Shutdown::Both);
        asked
    }

    fn forward_questions(
        &self,
        mut client: &TcpStream,
        mut server: &TcpStream,
        awaited: &AtomicU64,
    ) -> io::Result<()> {
        // The first message has no kind.
        let mut length = [0; 4];
        client.read_exact(&mut length)?;
        let mut message = length.to_vec();
        message.resize(usize::try_from(u32::from_be_bytes(length)).unwrap(), 0);
        client.read_exact(message.get_mut(4..).unwrap())?;
        server.write_all(&message)?;

        let mut messages = Messages::default();
        let mut chunk = vec![0; 65_536];
        loop {
            let read = client.read(&mut chunk)?;
            let Some(said) = chunk.get(..read).filter(|said| !said.is_empty()) else { return Ok(()) };
            messages.read(said, |kind| self.count(kind, awaited));
            server.write_all(said)?;
        }
    }

    /// `E` runs a prepared statement and `Q` a text. `S` and `Q` ask for an answer.
    fn count(&self, kind: u8, awaited: &AtomicU64) {
        if matches!(kind, b'E' | b'Q') {
            self.statements.fetch_add(1, Ordering::SeqCst);
        }
        if matches!(kind, b'S' | b'Q') && awaited.fetch_add(1, Ordering::SeqCst) == 0 {
            self.round_trips.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Forwards what the database says. `Z` ends the answer to one question.
#[expect(clippy::disallowed_methods, reason = "this thread is a slow network, and waits for nothing")]
fn forward_answers(mut server: TcpStream, mut client: TcpStream, awaited: &AtomicU64) -> io::Result<()> {
    let mut messages = Messages::default();
    let mut chunk = vec![0; 65_536];
    loop {
        let read = server.read(&mut chunk)?;
        let Some(said) = chunk.get(..read).filter(|said| !said.is_empty()) else {
            return client.shutdown(Shutdown::Both);
        };
        thread::sleep(LATENCY);
        messages.read(said, |kind| {
            if kind == b'Z' {
                // The first one ends the login, which was not counted as a question.
                let _before_the_first = awaited
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |awaited| awaited.checked_sub(1));
            }
        });
        client.write_all(said)?;
    }
}

/// Finds the messages in a stream of bytes: a kind, a length that counts itself, and a content.
#[derive(Default)]
struct Messages {
    head: [u8; 5],
    /// How much of the head was read.
    known: usize,
    /// How much of the content is still to come.
    content: usize,
}

impl Messages {
    fn read(&mut self, mut bytes: &[u8], mut on_message: impl FnMut(u8)) {
        while !bytes.is_empty() {
            let skipped = self.content.min(bytes.len());
            self.content -= skipped;
            bytes = bytes.get(skipped..).unwrap();
            while self.content == 0
                && let Some((byte, rest)) = bytes.split_first()
            {
                *self.head.get_mut(self.known).unwrap() = *byte;
                self.known += 1;
                bytes = rest;
                if self.known == self.head.len() {
                    let [kind, length @ ..] = self.head;
                    (self.known, self.content) =
                        (0, usize::try_from(u32::from_be_bytes(length)).unwrap() - 4);
                    on_message(kind);
                }
            }
        }
    }
}

#[test]
fn messages_are_found_however_they_are_cut() {
    let stream = b"P\0\0\0\x09hello\x42\0\0\0\x04E\0\0\0\x05xS\0\0\0\x04";
    for size in 1..stream.len() {
        let (mut messages, mut kinds) = (Messages::default(), Vec::new());
        for chunk in stream.chunks(size) {
            messages.read(chunk, |kind| kinds.push(kind));
        }
        assert_eq!(kinds, b"PBES", "in pieces of {size}");
    }
}
