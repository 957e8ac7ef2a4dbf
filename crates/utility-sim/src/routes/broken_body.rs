//! A response body that breaks off and closes the connection.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use actix_web::{
    body::{BodySize, MessageBody},
    web::Bytes,
};

/// A body that announces more bytes than it sends.
pub(super) struct BrokenBody {
    promised: u64,
    half: Option<Bytes>,
    /// Whether the sent bytes still have to be written to the connection.
    unflushed: bool,
}

impl BrokenBody {
    /// Fails before the head of the response is written, so that the client only sees the connection close.
    pub(super) fn nothing() -> Self {
        Self { promised: 1, half: None, unflushed: false }
    }

    /// Sends the first half, then fails.
    pub(super) fn half_of(whole: &Bytes) -> Self {
        let promised = u64::try_from(whole.len()).unwrap_or(u64::MAX);
        Self { promised, half: Some(whole.slice(..whole.len() / 2)), unflushed: true }
    }
}

impl MessageBody for BrokenBody {
    type Error = io::Error;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.promised)
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, io::Error>>> {
        if let Some(half) = self.half.take() {
            return Poll::Ready(Some(Ok(half)));
        }
        if std::mem::take(&mut self.unflushed) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::ConnectionAborted))))
    }
}
