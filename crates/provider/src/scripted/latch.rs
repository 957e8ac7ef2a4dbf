//! Something that a test opens once.

use tokio::sync::watch;

/// Closed until opened, then open for ever. Clones are handles on the same latch.
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
