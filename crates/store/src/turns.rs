//! Operations that may run a few at a time: some more wait for a while, and others are turned away at once.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::StoreError;

/// So many at a time, and so many who wait for so long.
#[derive(Debug)]
pub(crate) struct Turns {
    running: Semaphore,
    /// One permit for each that runs or waits.
    admitted: Semaphore,
    patience: Duration,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    _running: SemaphorePermit<'a>,
    _admitted: SemaphorePermit<'a>,
}

impl Turns {
    pub(crate) fn new(at_once: usize, waiting_max: usize, patience: Duration) -> Self {
        let admitted = Semaphore::new(at_once.saturating_add(waiting_max));
        Self { running: Semaphore::new(at_once), admitted, patience }
    }

    /// Waits for a turn, in the order of asking.
    ///
    /// # Errors
    /// [`StoreError::Busy`] where too many wait, or none comes in time. Nothing was done.
    pub(crate) async fn take(&self) -> Result<Turn<'_>, StoreError> {
        let busy = |why: &str| StoreError::Busy { source: why.into() };
        let admitted = self.admitted.try_acquire().map_err(|_full| busy("too many are waiting"))?;
        let running = timeout(self.patience, self.running.acquire()).await;
        let running = running.map_err(|_elapsed| busy("others took too long"))?;
        let running = running.map_err(|_closed| StoreError::Stopped)?;
        Ok(Turn { _running: running, _admitted: admitted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn who_finds_the_queue_full_is_turned_away_at_once_and_who_waits_too_long_then() {
        let turns = Turns::new(1, 1, MOMENT);
        let first = turns.take().await.unwrap();
        let (second, third) = tokio::join!(turns.take(), async {
            tokio::task::yield_now().await;
            turns.take().await.unwrap_err().to_string()
        });
        assert_eq!(third, "the database is too busy with others");
        assert!(matches!(second, Err(StoreError::Busy { .. })), "{second:?}");
        drop(first);
        assert!(turns.take().await.is_ok());
    }

    #[tokio::test]
    async fn who_waits_gets_the_next_turn() {
        let turns = Turns::new(1, 1, Duration::from_secs(10));
        let first = turns.take().await.unwrap();
        let (second, ()) = tokio::join!(turns.take(), async {
            tokio::task::yield_now().await;
            drop(first);
        });
        assert!(second.is_ok());
    }
}
