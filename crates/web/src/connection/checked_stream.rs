//! The socket as the server reads it: only bytes that were inspected, each head within its time, and one request at a time.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use actix_http::ServiceConfig;
use bytes::{Buf, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};

use super::{
    Answers, BrokenHead,
    inspector::{Broken, Inspected, Inspector},
};

/// What a request is allowed.
#[derive(Clone, Copy, Debug)]
pub struct HeadLimits {
    /// How many bytes it may have, to the last.
    pub bytes_max: usize,
    /// How long it may take from its first byte, and the first one of a connection from when that is made.
    pub within: Duration,
    /// How long a body may take. A handler that reads it is stricter; this is for a body that no handler reads.
    pub body_within: Duration,
}

/// Wraps connections. Each thread that serves makes one.
#[derive(Clone)]
pub struct HeadChecks {
    limits: HeadLimits,
    /// For the decoder, which uses nothing of it. One of its own for each connection would be a timer for each.
    config: ServiceConfig,
}

/// How long a connection that is not read any more is kept, for the answer to reach its reader: bytes that were never read
/// make the kernel reset a connection that is closed, and a reset can overtake the answer.
const LINGERS: Duration = Duration::from_secs(1);

/// How long a caller may take no byte of its answers. One that never reads would keep what it is owed in memory for ever.
const TAKES_WITHIN: Duration = Duration::from_secs(30);

/// At most so much of further requests is read while one waits for its answer. The rest stays with its sender.
const READ_AHEAD_MAX: usize = 4_096;

/// At most so much is read and thrown away at a time.
const THROWN_AWAY_AT_ONCE: usize = 64 * 1_024;

/// A socket from which only well-formed requests can be read, made by [`HeadChecks::of`].
pub struct CheckedStream<Socket = TcpStream> {
    socket: Socket,
    limits: HeadLimits,
    inspector: Inspector,
    /// What has arrived of a head that is not whole yet.
    held: BytesMut,
    /// What may be read and has not been.
    ready: BytesMut,
    /// What has arrived after the end of a request, and has not been looked at.
    unseen: BytesMut,
    /// How many whole requests were passed on. None is passed on before all of them are answered: the server would queue as many
    /// as arrive, each some kilobytes large.
    passed: u64,
    answers: Arc<Answers>,
    /// Why nothing more is read from the socket, once that is so.
    broken: Option<Broken>,
    /// Whether nothing but empty lines has arrived yet.
    is_silent: bool,
    is_in_body: bool,
    is_shut: bool,
    timer: Option<Pin<Box<Sleep>>>,
    /// Runs while the caller takes nothing.
    untaken: Option<Pin<Box<Sleep>>>,
}

impl HeadChecks {
    /// Must be made on a thread of an actix system.
    pub fn new(limits: HeadLimits) -> Self {
        Self { limits, config: ServiceConfig::default() }
    }

    /// Wraps a connection that was just accepted.
    pub fn of<Socket>(&self, socket: Socket) -> CheckedStream<Socket> {
        CheckedStream {
            socket,
            limits: self.limits,
            inspector: Inspector::new(self.config.clone(), self.limits.bytes_max),
            held: BytesMut::new(),
            ready: BytesMut::new(),
            unseen: BytesMut::new(),
            passed: 0,
            answers: Arc::default(),
            broken: None,
            is_silent: true,
            is_in_body: false,
            is_shut: false,
            timer: None,
            untaken: None,
        }
    }
}

impl<Socket> CheckedStream<Socket> {
    /// The socket itself, to ask the kernel about the connection.
    pub const fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Where the answers to its requests are counted.
    pub fn answers(&self) -> Arc<Answers> {
        Arc::clone(&self.answers)
    }

    /// Passes on what may be of the bytes that were read into `buffer` after `before`, and holds the rest.
    fn inspect(&mut self, buffer: &mut ReadBuf<'_>, before: usize) {
        let fresh = buffer.filled().get(before..).unwrap_or_default();
        if self.held.is_empty() {
            let inspected = self.inspector.inspect(fresh, fresh);
            self.held.extend_from_slice(fresh.get(inspected.passed..).unwrap_or_default());
            buffer.set_filled(before.saturating_add(inspected.passed));
            self.follow(inspected);
        } else {
            self.inspect_held(fresh);
            buffer.set_filled(before);
        }
    }

    /// The same with bytes that no reader has a place for now.
    fn inspect_held(&mut self, fresh: &[u8]) {
        self.held.extend_from_slice(fresh);
        let inspected = self.inspector.inspect(&self.held, fresh);
        self.ready = self.held.split_to(inspected.passed);
        self.follow(inspected);
    }

    fn follow(&mut self, inspected: Inspected) {
        self.is_silent &= inspected.passed == 0 && is_empty_lines(&self.held);
        if inspected.ends_request {
            if !self.held.is_empty() {
                self.unseen = std::mem::take(&mut self.held);
            }
            self.passed = self.passed.saturating_add(1);
        }
        let was_in_body = std::mem::replace(&mut self.is_in_body, self.inspector.is_in_body());
        match inspected.broken {
            Some(broken) => self.end(broken),
            // Empty lines before a request mean nothing (RFC 9112, section 2.2).
            None if is_empty_lines(&self.held) => {
                if self.held.is_empty() {
                    // An idle connection keeps no memory.
                    self.held = BytesMut::new();
                }
                let goes_on = self.is_silent || (was_in_body && self.is_in_body);
                if !goes_on {
                    self.timer = None;
                }
            }
            None => {}
        }
    }

    fn end(&mut self, broken: Broken) {
        if let Broken::Head(why) = broken {
            self.ready.extend_from_slice(&why.stand_in(&self.held));
        }
        self.held = BytesMut::new();
        self.timer = None;
        self.broken = Some(broken);
    }

    /// Whether a head, of which a part or nothing has arrived, or a body that is not whole, has had its time.
    fn is_overdue(&mut self, context: &mut Context<'_>) -> bool {
        let is_in_head = self.is_silent || !is_empty_lines(&self.held);
        if !is_in_head && !self.is_in_body {
            return false;
        }
        let within = if self.is_in_body { self.limits.body_within } else { self.limits.within };
        self.timer.get_or_insert_with(|| Box::pin(sleep(within))).as_mut().poll(context).is_ready()
    }

    fn read_what_is_ready(&mut self, buffer: &mut ReadBuf<'_>) {
        let length = self.ready.len().min(buffer.remaining());
        buffer.put_slice(self.ready.get(..length).unwrap_or_default());
        self.ready.advance(length);
        if self.ready.is_empty() {
            self.ready = BytesMut::new();
        }
    }
}

impl<Socket: AsyncRead + Unpin> CheckedStream<Socket> {
    /// Reads no more than the beginning of what follows the request that waits for its answer, so as to see its caller hang up.
    /// Ready when there is no more to come.
    fn read_ahead(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.unseen.is_empty() {
            let mut ahead = [0; READ_AHEAD_MAX];
            let mut ahead = ReadBuf::new(&mut ahead);
            ready!(Pin::new(&mut self.socket).poll_read(context, &mut ahead))?;
            if ahead.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.unseen.extend_from_slice(ahead.filled());
        }
        Poll::Pending
    }

    /// Reads and throws away; ready where there is no more to come.
    fn throw_away(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let (mut scratch, mut thrown_away) = ([0; 4_096], 0_usize);
        while thrown_away < THROWN_AWAY_AT_ONCE {
            let mut scratch = ReadBuf::new(&mut scratch);
            match ready!(Pin::new(&mut self.socket).poll_read(context, &mut scratch)) {
                Ok(()) if !scratch.filled().is_empty() => {
                    thrown_away = thrown_away.saturating_add(scratch.filled().len());
                }
                Ok(()) | Err(_) => return Poll::Ready(()),
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<Socket: AsyncRead + Unpin> AsyncRead for CheckedStream<Socket> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        loop {
            if !this.ready.is_empty() {
                this.read_what_is_ready(buffer);
                return Poll::Ready(Ok(()));
            }
            match this.broken {
                // The end, and so the end of the body.
                Some(Broken::Body) => return Poll::Ready(Ok(())),
                Some(Broken::Head(_)) => return this.throw_away(context).map(Ok),
                None if !this.answers.reach(this.passed, context) => return this.read_ahead(context),
                None if !this.unseen.is_empty() => {
                    let unseen = std::mem::take(&mut this.unseen);
                    this.inspect_held(&unseen);
                    continue;
                }
                None => {}
            }
            let read = Pin::new(&mut this.socket).poll_read(context, buffer);
            if buffer.filled().len() > before {
                this.inspect(buffer, before);
            } else if read.is_pending() && this.is_overdue(context) {
                if this.is_silent {
                    // Nobody has asked anything: the connection ends without an answer.
                    return Poll::Ready(Ok(()));
                }
                this.end(if this.is_in_body { Broken::Body } else { Broken::Head(BrokenHead::TooSlow) });
            } else {
                return read;
            }
            if buffer.filled().len() > before {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<Socket: AsyncRead + AsyncWrite + Unpin> AsyncWrite for CheckedStream<Socket> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.socket).poll_write(context, bytes);
        if written.is_ready() {
            this.untaken = None;
            return written;
        }
        let untaken = this.untaken.get_or_insert_with(|| Box::pin(sleep(TAKES_WITHIN)));
        ready!(untaken.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context)
    }

    /// A connection that broke is closed when its sender has stopped sending, or after a while.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.is_shut {
            ready!(Pin::new(&mut this.socket).poll_shutdown(context))?;
            this.is_shut = true;
        }
        let is_read_to_its_end = this.broken.is_none() && this.unseen.is_empty();
        if is_read_to_its_end || this.throw_away(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        this.timer.get_or_insert_with(|| Box::pin(sleep(LINGERS))).as_mut().poll(context).map(Ok)
    }
}

fn is_empty_lines(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

#[cfg(test)]
mod tests;
