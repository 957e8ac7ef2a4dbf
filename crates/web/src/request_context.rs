//! What is known about one request from the arrival of its head on.

use std::{cell::Cell, rc::Rc, sync::Arc};

use actix_web::{
    HttpMessage, HttpRequest,
    http::header::{HeaderName, HeaderValue},
};

use clock::Monotonic;
use messages::Language;
use traces::RequestTrace;
use vending::Arrival;

use crate::{
    CallerSocket, RequestId, Surface,
    limits::{Allowance, Network},
    surface::Served,
};

/// Stored beside the request, on its own thread. [`crate::intake`] makes it.
#[derive(Debug)]
pub struct RequestContext {
    request_id: RequestId,
    head_read_at: Monotonic,
    socket: Option<Arc<CallerSocket>>,
    origin: Network,
    surface: Arc<Served>,
    language: Cell<Language>,
    money_may_move: Cell<bool>,
    is_counted: Cell<bool>,
    is_held_back: Cell<bool>,
    allowance: Cell<Option<Allowance>>,
    trace: RequestTrace,
}

impl RequestContext {
    pub(crate) fn new(
        request_id: RequestId,
        head_read_at: Monotonic,
        socket: Option<Arc<CallerSocket>>,
        origin: Network,
        surface: Arc<Served>,
        language: Language,
        trace: RequestTrace,
    ) -> Rc<Self> {
        Rc::new(Self {
            request_id,
            head_read_at,
            socket,
            origin,
            surface,
            language: Cell::new(language),
            money_may_move: Cell::new(false),
            is_counted: Cell::new(false),
            is_held_back: Cell::new(false),
            allowance: Cell::new(None),
            trace,
        })
    }

    /// The context of this request.
    pub fn of(request: &HttpRequest) -> Rc<Self> {
        Rc::clone(request.extensions().get::<Rc<Self>>().expect("every request passes the intake"))
    }

    /// The request id.
    pub const fn request_id(&self) -> &RequestId {
        &self.request_id
    }

    /// When the head had been read.
    pub(crate) const fn head_read_at(&self) -> Monotonic {
        self.head_read_at
    }

    /// The network from which the request came.
    pub(crate) const fn origin(&self) -> Network {
        self.origin
    }

    /// The arrival of the request: when it had arrived, from which a purchase's age is counted; the request id under
    /// which it is stored; and the connection over which the caller waits. Call this when the whole request has been
    /// read and its fields are checked, before the use case.
    ///
    /// The arrival is the earlier of two moments: the last byte of the request reached the kernel, or its head was read.
    /// The first alone would be too late for a caller that sends its next request without waiting for the answer: the kernel
    /// counts those bytes, too.
    pub fn arrival(&self) -> Arrival {
        let last_byte_at = self.socket.as_ref().and_then(|socket| socket.last_byte_at());
        Arrival {
            at: last_byte_at.map_or(self.head_read_at, |at| at.min(self.head_read_at)),
            request_id: Some(self.request_id.as_str().to_owned()),
            connection: self.socket.as_ref().map(CallerSocket::watched),
            trace: self.trace.clone(),
        }
    }

    /// Where a use case leaves the trace of the purchase that this request is about.
    pub const fn trace(&self) -> &RequestTrace {
        &self.trace
    }

    /// The surface whose path the request has.
    pub(crate) fn surface(&self) -> &dyn Surface {
        self.surface.surface.as_ref()
    }

    /// The headers that every answer of this surface has.
    pub(crate) fn surface_headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.surface.headers
    }

    /// The language of the answer: that of the body, else that of the headers.
    pub fn language(&self) -> Language {
        self.language.get()
    }

    pub(crate) fn set_language(&self, language: Language) {
        self.language.set(language);
    }

    /// Call this before money may move. From then on, a failure of ours must not read as if nothing had happened.
    pub fn mark_money_may_move(&self) {
        self.money_may_move.set(true);
    }

    /// Marks the request as counted by a limit of a client or of an address.
    pub(crate) fn count(&self) {
        self.is_counted.set(true);
    }

    pub(crate) fn is_counted(&self) -> bool {
        self.is_counted.get()
    }

    /// Marks the answer to be held back, because the sender exceeds its limit.
    pub(crate) fn hold_back(&self) {
        self.is_held_back.set(true);
    }

    pub(crate) fn is_held_back(&self) -> bool {
        self.is_held_back.get()
    }

    /// Sets the sender's remaining rate limit, which the answer shows.
    pub(crate) fn allow(&self, allowance: Allowance) {
        self.allowance.set(Some(allowance));
    }

    pub(crate) fn allowance(&self) -> Option<Allowance> {
        self.allowance.get()
    }

    pub(crate) fn may_have_moved_money(&self) -> bool {
        self.money_may_move.get()
    }
}
