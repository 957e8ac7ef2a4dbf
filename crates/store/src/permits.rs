//! Limits how many operations run at a time. Some more may wait for a limited time, and the others are refused at once.

use std::time::Duration;

use database::DatabaseError;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

/// A limit for running operations, and a limit for waiting ones with a maximum wait.
#[derive(Debug)]
pub(crate) struct Permits {
    running: Semaphore,
    /// One permit for each operation that runs or waits.
    admitted: Semaphore,
    patience: Duration,
}

/// A permit, until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    _running: SemaphorePermit<'a>,
    _admitted: SemaphorePermit<'a>,
}

impl Permits {
    pub(crate) fn new(at_once: usize, waiting_max: usize, patience: Duration) -> Self {
        let admitted = Semaphore::new(at_once.saturating_add(waiting_max));
        Self { running: Semaphore::new(at_once), admitted, patience }
    }

    /// Waits for a permit, in the order of the requests.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] if too many are waiting, or if no permit comes in time. Nothing was done.
    pub(crate) async fn take(&self) -> Result<Permit<'_>, DatabaseError> {
        let busy = |why: &str| DatabaseError::Busy { source: why.into() };
        let admitted = self.admitted.try_acquire().map_err(|_full| busy("too many are waiting"))?;
        let running = timeout(self.patience, self.running.acquire()).await;
        let running = running.map_err(|_elapsed| busy("others took too long"))?;
        let running = running.map_err(|_closed| DatabaseError::Stopped)?;
        Ok(Permit { _running: running, _admitted: admitted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_full_queue_refuses_at_once_and_a_wait_that_is_too_long_is_refused() {
        let permits = Permits::new(1, 1, MOMENT);
        let first = permits.take().await.unwrap();
        let (second, third) = tokio::join!(permits.take(), async {
            tokio::task::yield_now().await;
            permits.take().await.unwrap_err().to_string()
        });
        assert_eq!(
            third,
            "the database is busy: a lock, a connection or a place in a queue was not free in time"
        );
        assert!(matches!(second, Err(DatabaseError::Busy { .. })), "{second:?}");
        drop(first);
        assert!(permits.take().await.is_ok());
    }

    #[tokio::test]
    async fn a_waiting_operation_gets_the_next_turn() {
        let permits = Permits::new(1, 1, Duration::from_secs(10));
        let first = permits.take().await.unwrap();
        let (second, ()) = tokio::join!(permits.take(), async {
            tokio::task::yield_now().await;
            drop(first);
        });
        assert!(second.is_ok());
    }
}
