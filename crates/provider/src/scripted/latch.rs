//! A latch that a test opens once.

use tokio::sync::watch;

/// A latch is closed until it is opened, and then stays open. All clones share one state.
#[derive(Clone, Debug)]
pub struct Latch(watch::Sender<bool>);

impl Latch {
    /// A closed latch.
    pub fn closed() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Opens it.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was opened.
    pub fn is_open(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is opened.
    pub async fn opened(&self) {
        let mut state = self.0.subscribe();
        state.wait_for(|open| *open).await.expect("this handle keeps the sender alive");
    }
}
