//! The number of answered requests of a connection. The socket needs it, because it passes on one request at a time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Context,
};

use futures_util::task::AtomicWaker;

/// The count of one connection. The intake increments it, and the socket waits for it.
#[derive(Debug, Default)]
pub struct AnsweredRequests {
    given: AtomicU64,
    reader: AtomicWaker,
}

impl AnsweredRequests {
    /// Counts one more answered request. The answer of its handler is about to be written.
    pub(crate) fn count(&self) {
        self.given.fetch_add(1, Ordering::AcqRel);
        self.reader.wake();
    }

    /// Whether at least `number` requests are answered. If not, the reader is woken at the next answer.
    pub(super) fn reached(&self, number: u64, context: &Context<'_>) -> bool {
        self.reader.register(context.waker());
        self.given.load(Ordering::Acquire) >= number
    }
}

/// Counts a request as answered when this is dropped, however its handler ends.
pub(crate) struct Answered(pub(crate) Option<Arc<AnsweredRequests>>);

impl Drop for Answered {
    fn drop(&mut self) {
        if let Some(answers) = &self.0 {
            answers.count();
        }
    }
}
