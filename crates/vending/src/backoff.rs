//! How long to wait before the same is tried again.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// Doubles from one pause to the next, up to two seconds.
#[derive(Debug)]
pub(crate) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Backoff {
    pub(crate) async fn pause(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = self.0.saturating_mul(2).min(LONGEST);
    }
}
