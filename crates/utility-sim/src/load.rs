//! How many requests of the utility's protocol are open at a time.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Counts open requests, and remembers the most of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    open: AtomicUsize,
    most: AtomicUsize,
}

/// One open request, until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenRequest(Arc<Counts>);

impl Load {
    /// A request has been read.
    pub(crate) fn open(&self) -> OpenRequest {
        let open = self.0.open.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        self.0.most.fetch_max(open, Ordering::SeqCst);
        OpenRequest(Arc::clone(&self.0))
    }

    /// How many requests are open now.
    pub(crate) fn now(&self) -> usize {
        self.0.open.load(Ordering::SeqCst)
    }

    /// The most requests that were open at a time since the start, or since this was counted anew.
    pub(crate) fn most(&self) -> usize {
        self.0.most.load(Ordering::SeqCst)
    }

    /// Counts the most requests anew.
    pub(crate) fn forget(&self) {
        self.0.most.store(self.now(), Ordering::SeqCst);
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_requests_at_a_time_are_remembered_until_they_are_counted_anew() {
        let load = Load::default();
        let both = (load.open(), load.open());
        drop(both);
        let _one = load.open();
        assert_eq!((load.now(), load.most()), (1, 2));
        load.forget();
        assert_eq!((load.now(), load.most()), (1, 1));
    }
}
