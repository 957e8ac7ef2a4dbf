//! Serves the connections of a wire: reads a request, forwards it or not, and answers it or not.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, atomic::Ordering},
    thread,
    time::Duration,
};

use super::{
    Script, Shared, Upstream,
    http::{Answer, Received, rewritten, with_status},
};
use crate::conformance::{Garbage, Mishap};

/// The read timeout. It is longer than any timeout of an adapter under test.
const PATIENCE: Duration = Duration::from_secs(2 * 60);

/// The time between two bytes of an answer that comes byte by byte.
const DRIP: Duration = Duration::from_millis(250);

/// The size of an endless answer: more than any adapter should read, but small enough for a test.
const ENDLESS_BYTES: usize = 32 * 1024 * 1024;

/// Accepts connections until the wire is dropped.
pub(super) fn listen(shared: &Arc<Shared>, listener: &TcpListener, is_elsewhere: bool) {
    for stream in listener.incoming() {
        if shared.closed.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let connection = Connection::open(Arc::clone(shared), stream, is_elsewhere);
        let _no_thread = thread::Builder::new().name("wire".to_owned()).spawn(move || connection.serve());
    }
}

/// A network fault that a wire injects.
#[derive(Clone, Copy, Debug)]
pub(super) enum Breakage {
    /// Before the provider has seen the request.
    Before(Before),
    /// After the provider has carried it out.
    After(After),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Before {
    Cut,
    Redirect,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum After {
    Cut,
    Silence,
    Drip,
    Halve,
    Garble(Garbage),
    Empty,
    Endless,
    ServerError,
    FailingStatus,
}

impl Breakage {
    /// The fault of this mishap. `None` if the provider must cause it.
    pub(super) const fn of(mishap: Mishap) -> Option<Self> {
        Some(match mishap {
            Mishap::RequestLost => Self::Before(Before::Cut),
            Mishap::Redirected => Self::Before(Before::Redirect),
            Mishap::ReplyLost => Self::After(After::Cut),
            Mishap::Silence => Self::After(After::Silence),
            Mishap::ReplyDrips => Self::After(After::Drip),
            Mishap::ReplyHalved => Self::After(After::Halve),
            Mishap::ReplyGarbled(garbage) => Self::After(After::Garble(garbage)),
            Mishap::ReplyEmpty => Self::After(After::Empty),
            Mishap::ReplyEndless => Self::After(After::Endless),
            Mishap::ServerError => Self::After(After::ServerError),
            Mishap::FailingStatus => Self::After(After::FailingStatus),
            Mishap::AnswersAnotherReference
            | Mishap::ReferenceLeftOut
            | Mishap::AnswersAnotherSubscriber
            | Mishap::AnswersAnotherAmount
            | Mishap::AnswersAnotherCurrency
            | Mishap::TokenLeftOut
            | Mishap::TokenDummy
            | Mishap::StillUnderWay
            | Mishap::Refused
            | Mishap::RefusedForAnother
            | Mishap::RefusedWithoutReference
            | Mishap::UnlistedFault
            | Mishap::NoRecordForAnother => return None,
        })
    }
}

/// A connection of an adapter. It is counted while it is open.
struct Connection {
    shared: Arc<Shared>,
    stream: TcpStream,
    /// The number of the connection. `None` for a connection to the redirect target.
    number: Option<u64>,
}

impl Connection {
    fn open(shared: Arc<Shared>, stream: TcpStream, is_elsewhere: bool) -> Self {
        let number = (!is_elsewhere).then(|| {
            let mut state = shared.state();
            let number = state.made;
            state.made = number.saturating_add(1);
            state.standing.insert(number);
            number
        });
        shared.changed.notify_all();
        Self { shared, stream, number }
    }

    fn serve(mut self) {
        // An error here is part of the fault that the adapter must handle.
        let _broken = self.answer();
    }

    fn answer(&mut self) -> io::Result<()> {
        self.stream.set_read_timeout(Some(PATIENCE))?;
        self.stream.set_nodelay(true)?;
        let Some(received) = Received::read(&mut self.stream)? else { return Ok(()) };
        if self.number.is_none() {
            let mut state = self.shared.state();
            state.strayed = state.strayed.saturating_add(1);
            drop(state);
            let reply = self.sent_on(&received, false)?;
            return self.stream.write_all(&reply);
        }
        match self.shared.take(&received.request()) {
            None => {
                let reply = self.sent_on(&received, false)?;
                self.stream.write_all(&reply)
            }
            Some(Script::Rewrite(change)) => {
                let reply = self.sent_on(&received, true)?;
                self.stream.write_all(&rewritten(&reply, change))
            }
            Some(Script::Break(Breakage::Before(Before::Cut))) => Ok(()),
            Some(Script::Break(Breakage::Before(Before::Redirect))) => self.redirect(&received),
            Some(Script::Break(Breakage::After(after))) => {
                let reply = self.sent_on(&received, false)?;
                self.spoil(after, &reply)
            }
        }
    }

    fn spoil(&mut self, after: After, reply: &[u8]) -> io::Result<()> {
        match after {
            After::Cut => Ok(()),
            After::Silence => self.wait_until_closed(),
            After::Drip => self.drip(reply),
            After::Halve => {
                let half = reply.len().div_euclid(2);
                self.stream.write_all(reply.get(..half).unwrap_or_default())
            }
            After::Garble(garbage) => self.stream.write_all(&Answer::ok(garbage.bytes()).to_bytes()),
            After::Empty => self.stream.write_all(&Answer::ok("").to_bytes()),
            After::Endless => self.write_without_end(),
            After::ServerError => {
                let page = Answer { status: 500, body: b"<html><h1>Something broke</h1></html>".to_vec() };
                self.stream.write_all(&page.to_bytes())
            }
            After::FailingStatus => self.stream.write_all(&with_status(reply, 500)),
        }
    }

    fn sent_on(&self, received: &Received, is_plain: bool) -> io::Result<Vec<u8>> {
        match &self.shared.upstream {
            Upstream::Here(answers) => Ok(answers(&received.request()).to_bytes()),
            Upstream::Server(address) => {
                let mut server = TcpStream::connect(address)?;
                server.set_read_timeout(Some(PATIENCE))?;
                server.write_all(&received.to_bytes(is_plain))?;
                let mut reply = Vec::new();
                server.read_to_end(&mut reply)?;
                Ok(reply)
            }
        }
    }

    fn redirect(&mut self, received: &Received) -> io::Result<()> {
        let (elsewhere, path) = (self.shared.elsewhere, received.path());
        let head = format!("HTTP/1.1 307 Elsewhere\r\nLocation: http://{elsewhere}{path}\r\n");
        self.stream.write_all(format!("{head}Content-Length: 0\r\nConnection: close\r\n\r\n").as_bytes())
    }

    fn wait_until_closed(&mut self) -> io::Result<()> {
        let mut chunk = [0; 64];
        while self.stream.read(&mut chunk)? > 0 {}
        Ok(())
    }

    fn drip(&mut self, reply: &[u8]) -> io::Result<()> {
        self.stream.set_read_timeout(Some(DRIP))?;
        for byte in reply {
            self.stream.write_all(&[*byte])?;
            match self.stream.read(&mut [0; 64]) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write_without_end(&mut self) -> io::Result<()> {
        let blanks = vec![b' '; 64 * 1024];
        self.stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        let mut written = 0;
        while written < ENDLESS_BYTES {
            self.stream.write_all(&blanks)?;
            written += blanks.len();
        }
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _gone_already = self.stream.shutdown(Shutdown::Both);
        if let Some(number) = self.number {
            self.shared.state().standing.remove(&number);
        }
    }
}
