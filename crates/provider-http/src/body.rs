//! A request body that records whether it was sent.
//!
//! The HTTP client opens a connection, encodes the head, and only then asks the body for its bytes. This is the last
//! moment at which an order can be stopped. The result is recorded. If the body was never handed to the connection, no
//! provider can have the order. This is true even if the head was sent, because a head without its announced body is
//! not a complete request.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use provider::Gate;

const WAITING: u8 = 0;
const LEFT: u8 = 1;
const WITHDRAWN: u8 = 2;

/// Whether the body was handed to the connection. A body either leaves or is withdrawn, never both. So a connection
/// that resumes after the caller gave up has nothing to send.
#[derive(Clone, Debug, Default)]
pub(crate) struct Departure(Arc<AtomicU8>);

impl Departure {
    /// Withdraws the body. Returns true if it had not left. Then it can never leave.
    pub(crate) fn withdraw(&self) -> bool {
        self.move_on(WITHDRAWN)
    }

    fn leave(&self) -> bool {
        self.move_on(LEFT)
    }

    fn move_on(&self, to: u8) -> bool {
        match self.0.compare_exchange(WAITING, to, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_waiting) => true,
            Err(now) => now == to && to == WITHDRAWN,
        }
    }
}

/// Why a body did not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the gate was closed before the first byte of the order left")]
pub(crate) struct Withdrawn;

/// The complete body of one message. It is handed over in one piece if the gate is still open.
#[derive(Debug)]
pub(crate) struct GatedBody {
    bytes: Option<Bytes>,
    gate: Gate,
    departure: Departure,
}

impl GatedBody {
    pub(crate) fn new(bytes: Vec<u8>, gate: Gate, departure: Departure) -> Self {
        Self { bytes: Some(Bytes::from(bytes)), gate, departure }
    }
}

impl Body for GatedBody {
    type Data = Bytes;
    type Error = Withdrawn;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Withdrawn>>> {
        let Some(bytes) = self.bytes.take() else {
            return Poll::Ready(None);
        };
        if !self.gate.is_open() {
            self.departure.withdraw();
        }
        let frame = if self.departure.leave() { Ok(Frame::data(bytes)) } else { Err(Withdrawn) };
        Poll::Ready(Some(frame))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    /// The size is exact, so that the head announces a length. Then a head without its body is not a complete request.
    fn size_hint(&self) -> SizeHint {
        let length = self.bytes.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(u64::try_from(length).expect("a message in memory has a 64-bit length"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(gate_is_open: bool, departure: &Departure) -> GatedBody {
        GatedBody::new(b"order".to_vec(), Gate::while_true(move || gate_is_open), departure.clone())
    }

    fn poll(body: &mut GatedBody) -> Poll<Option<Result<Frame<Bytes>, Withdrawn>>> {
        Pin::new(body).poll_frame(&mut Context::from_waker(std::task::Waker::noop()))
    }

    #[test]
    fn an_open_gate_lets_the_order_leave_exactly_once() {
        let departure = Departure::default();
        let mut body = body(true, &departure);
        assert_eq!(body.size_hint().exact(), Some(5));
        assert!(!body.is_end_stream());
        assert!(matches!(poll(&mut body), Poll::Ready(Some(Ok(frame))) if frame.is_data()));
        assert!(body.is_end_stream());
        assert!(matches!(poll(&mut body), Poll::Ready(None)));
        assert!(!departure.withdraw());
    }

    #[test]
    fn a_closed_gate_keeps_the_order_and_proves_it() {
        let departure = Departure::default();
        assert!(matches!(poll(&mut body(false, &departure)), Poll::Ready(Some(Err(Withdrawn)))));
        assert!(departure.withdraw());
    }

    #[test]
    fn an_order_that_was_given_up_does_not_leave_when_the_connection_wakes_up_later() {
        let departure = Departure::default();
        let mut body = body(true, &departure);
        assert!(departure.withdraw());
        assert!(matches!(poll(&mut body), Poll::Ready(Some(Err(Withdrawn)))));
        assert!(departure.withdraw());
    }
}
