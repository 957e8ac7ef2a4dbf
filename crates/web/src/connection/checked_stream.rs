//! The socket as the server reads it: only inspected bytes, each head within its time limit, one request at a time.

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
    AnsweredRequests, BrokenHead,
    inspector::{Broken, Inspected, Inspector},
};

/// The limits of a request.
#[derive(Clone, Copy, Debug)]
pub struct HeadLimits {
    /// The largest head, in bytes.
    pub bytes_max: usize,
    /// How long a head may take from its first byte. The first head of a connection is timed from when the connection
    /// is made.
    pub within: Duration,
    /// How long a body may take. A handler that reads it is stricter; this is for a body that no handler reads.
    pub body_within: Duration,
}

/// Wraps connections. Each serving thread makes one.
#[derive(Clone)]
pub struct HeadChecks {
    limits: HeadLimits,
    /// The decoder requires it and uses nothing of it. It is shared, because each config starts a timer.
    config: ServiceConfig,
}

/// How long a connection that is not read any more is kept open, so that the answer can reach the client. Unread bytes
/// make the kernel reset a connection that is closed, and a reset can overtake the answer.
const LINGERS: Duration = Duration::from_secs(1);

/// How long a caller may accept no byte of its answers. The answers to a caller that never reads would stay in memory
/// for ever.
const TAKES_WITHIN: Duration = Duration::from_secs(30);

/// At most so many bytes of further requests are read while one waits for its answer. The rest stays with the sender.
const READ_AHEAD_MAX: usize = 4_096;

/// At most so many bytes are read and discarded at a time.
const THROWN_AWAY_AT_ONCE: usize = 64 * 1_024;

/// A socket from which only well-formed requests can be read, made by [`HeadChecks::of`].
pub struct CheckedStream<Socket = TcpStream> {
    socket: Socket,
    limits: HeadLimits,
    inspector: Inspector,
    /// The bytes of a head that is not complete yet.
    held: BytesMut,
    /// The bytes that may be read and have not been read yet.
    ready: BytesMut,
    /// The bytes that arrived after the end of a request and have not been inspected yet.
    unseen: BytesMut,
    /// How many complete requests were passed on. The next one is passed on only when all of these are answered.
    /// Otherwise the server would queue all requests that arrive, each some kilobytes large.
    passed: u64,
    answers: Arc<AnsweredRequests>,
    /// Why nothing more is read from the socket; `None` while it is still read.
    broken: Option<Broken>,
    /// Whether nothing but empty lines has arrived yet.
    is_silent: bool,
    is_in_body: bool,
    is_shut: bool,
    timer: Option<Pin<Box<Sleep>>>,
    /// Runs while the caller accepts no byte.
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

    /// The counter of its answered requests.
    pub fn answers(&self) -> Arc<AnsweredRequests> {
        Arc::clone(&self.answers)
    }

    /// Passes on the permitted part of the bytes that were read into `buffer` after `before`, and holds the rest.
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

    /// The same for bytes that are not in a reader's buffer.
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

    /// Whether a time limit has passed: that of a head of which nothing or a part has arrived, or of an incomplete
    /// body.
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
    /// Reads no more than the beginning of what follows the request that waits for its answer, to notice when its
    /// caller hangs up. Ready when no more bytes will come.
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

    /// Reads and discards. Ready when no more bytes will come.
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
                // The end of the stream, and so the end of the body.
                Some(Broken::Body) => return Poll::Ready(Ok(())),
                Some(Broken::Head(_)) => return this.throw_away(context).map(Ok),
                None if !this.answers.reached(this.passed, context) => return this.read_ahead(context),
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
                    // The caller has not begun a request: the connection ends without an answer.
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

    /// A broken connection is closed when its sender has stopped sending, or after `LINGERS`.
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
