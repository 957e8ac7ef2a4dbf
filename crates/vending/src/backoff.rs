//! How long to wait before another try.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// Doubles from one pause to the next, up to two seconds or to the given maximum.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self::up_to(LONGEST)
    }
}

impl Backoff {
    pub(crate) const fn up_to(longest: Duration) -> Self {
        Self { next: FIRST, longest }
    }

    pub(crate) async fn pause(&mut self) {
        tokio::time::sleep(self.next_pause()).await;
    }

    pub(crate) fn next_pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = pause.saturating_mul(2).min(self.longest);
        pause
    }
}
