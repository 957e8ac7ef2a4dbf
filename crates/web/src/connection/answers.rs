//! How many requests of a connection are answered, for its socket, which passes on one at a time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Context,
};

use futures_util::task::AtomicWaker;

/// The count of one connection. The intake counts, the socket waits.
#[derive(Debug, Default)]
pub struct Answers {
    given: AtomicU64,
    reader: AtomicWaker,
}

impl Answers {
    /// One more request is answered: what its handler says is about to be written.
    pub(crate) fn count(&self) {
        self.given.fetch_add(1, Ordering::AcqRel);
        self.reader.wake();
    }

    /// Whether so many have been given. If not, the reader is woken when the next one is.
    pub(super) fn reach(&self, number: u64, context: &Context<'_>) -> bool {
        self.reader.register(context.waker());
        self.given.load(Ordering::Acquire) >= number
    }
}

/// Counts when it is dropped: a request is answered, however its handler ends.
pub(crate) struct Answered(pub(crate) Option<Arc<Answers>>);

impl Drop for Answered {
    fn drop(&mut self) {
        if let Some(answers) = &self.0 {
            answers.count();
        }
    }
}
