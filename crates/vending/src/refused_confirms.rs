//! Confirms that made no purchase, stored so that an operator can answer questions about them. No caller waits for
//! that, and no confirm that succeeds comes here. Refused confirms are queued in memory and written in the
//! background, many at a time. What exceeds the limits below is dropped and counted, so that a flood of refusals has
//! a bounded cost in memory and in the database.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clock::Monotonic;
use purchase::{OrganisationId, RefusedConfirm};

use crate::measures::{self, NotKept};
use crate::{Service, Vending};

/// The maximum number that wait to be written.
const WAITING_MAX: usize = 1_000;
/// The maximum number that one transaction writes.
const BATCH_MAX: usize = 100;
/// The pause between two transactions, which limits the number of batches in a second.
const PAUSE: Duration = Duration::from_millis(200);
/// The maximum number of one organisation that are stored in one minute. What exceeds it is dropped.
const PER_MINUTE_MAX: u32 = 60;
const MINUTE: Duration = Duration::from_mins(1);

/// The refused confirms that wait to be written.
#[derive(Debug, Default)]
pub(crate) struct RefusedConfirms(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<RefusedConfirm>,
    /// Whether a task is writing. That task goes on until nothing waits.
    is_writing: bool,
    /// The start of the current minute. `taken` counts the refused confirms of each organisation since then.
    minute: Option<Monotonic>,
    taken: HashMap<OrganisationId, u32>,
}

/// The task that writes. If it panics, the next refused confirm begins another one. Otherwise none would ever be
/// written again.
struct Writing<'a>(&'a RefusedConfirms);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.state().is_writing = false;
        }
    }
}

/// The result of queueing a refused confirm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    /// It waits, and the caller must begin the task that writes.
    First,
    /// It waits, and will be written.
    Queued,
    /// It is dropped.
    Dropped(NotKept),
}

impl Vending {
    /// Stores a confirm that made no purchase, soon and if there is room. Returns at once.
    pub fn keep_refused(&self, refused: RefusedConfirm) {
        let now = self.0.clock.monotonic();
        match self.0.refused_confirms.take(refused, now) {
            Taken::First => {
                let vending = self.clone();
                // The task is drained when the server stops, like every task on the engine.
                let _writing = self.0.engine.begin(async move { vending.0.write_refused().await });
            }
            Taken::Queued => {}
            Taken::Dropped(why) => measures::refused_not_kept(why, 1),
        }
    }
}

impl Service {
    async fn write_refused(&self) {
        let _writing = Writing(&self.refused_confirms);
        while let Some(batch) = self.refused_confirms.next_batch() {
            let number = batch.len();
            match self.store.keep_refused_confirms(batch).await {
                Ok(()) => measures::refused_kept(number),
                Err(error) => {
                    let cause: &dyn std::error::Error = &error;
                    tracing::warn!(cause, number, "refused confirms could not be stored");
                    measures::refused_not_kept(NotKept::Unwritten, number);
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl RefusedConfirms {
    fn take(&self, refused: RefusedConfirm, now: Monotonic) -> Taken {
        let mut state = self.state();
        if state.minute.is_none_or(|began| now.elapsed_since(began) >= MINUTE) {
            state.minute = Some(now);
            state.taken.clear();
        }
        if state.waiting.len() >= WAITING_MAX {
            return Taken::Dropped(NotKept::QueueFull);
        }
        let taken = state.taken.entry(refused.authority.organisation).or_default();
        if *taken >= PER_MINUTE_MAX {
            return Taken::Dropped(NotKept::TooMany);
        }
        *taken = taken.saturating_add(1);
        state.waiting.push_back(refused);
        if std::mem::replace(&mut state.is_writing, true) { Taken::Queued } else { Taken::First }
    }

    /// The next batch to write. `None` if nothing waits. Then the next refused confirm begins a new task.
    fn next_batch(&self) -> Option<Vec<RefusedConfirm>> {
        let mut state = self.state();
        let number = state.waiting.len().min(BATCH_MAX);
        state.is_writing = number > 0;
        (number > 0).then(|| state.waiting.drain(..number).collect())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use chrono::DateTime;
    use purchase::{AccessTokenId, Authority, ClientId, UserId};

    use super::*;

    fn refused(organisation: i64) -> RefusedConfirm {
        RefusedConfirm {
            at: DateTime::UNIX_EPOCH,
            authority: Authority {
                organisation: OrganisationId(organisation),
                client: ClientId(1),
                user: UserId(1),
                access_token: AccessTokenId(1),
            },
            subscriber: None,
            external_reference: None,
            product: None,
            provider_code: None,
            amount: None,
            code: "meter_not_found",
            param: None,
            request_id: "r".to_owned(),
        }
    }

    fn at(seconds: u64) -> Monotonic {
        Monotonic::from_origin(Duration::from_secs(seconds))
    }

    #[test]
    fn one_task_writes_until_nothing_waits() {
        let queue = RefusedConfirms::default();
        assert_eq!(queue.take(refused(1), at(0)), Taken::First);
        assert_eq!(queue.take(refused(2), at(0)), Taken::Queued);
        assert_eq!(queue.next_batch().map(|batch| batch.len()), Some(2));
        assert_eq!(queue.take(refused(3), at(0)), Taken::Queued, "the task that writes looks once more");
        assert_eq!(queue.next_batch().map(|batch| batch.len()), Some(1));
        assert_eq!(queue.next_batch(), None);
        assert_eq!(queue.take(refused(4), at(0)), Taken::First);
    }

    #[test]
    fn after_a_task_that_panicked_another_one_writes() {
        let queue = RefusedConfirms::default();
        assert_eq!(queue.take(refused(1), at(0)), Taken::First);
        let writes = AssertUnwindSafe(|| {
            let _writing = Writing(&queue);
            panic!("as a database driver might");
        });
        assert!(catch_unwind(writes).is_err());
        assert_eq!(queue.take(refused(2), at(0)), Taken::First);
    }

    #[test]
    fn an_organisation_that_is_refused_all_the_time_leaves_room_for_the_others() {
        let queue = RefusedConfirms::default();
        let taken =
            (0..1_000).filter(|_| matches!(queue.take(refused(1), at(5)), Taken::First | Taken::Queued));
        assert_eq!(taken.count(), 60);
        assert_eq!(queue.take(refused(1), at(64)), Taken::Dropped(NotKept::TooMany));
        assert_eq!(queue.take(refused(2), at(64)), Taken::Queued);
        assert_eq!(queue.take(refused(1), at(65)), Taken::Queued, "a minute later");
    }

    #[test]
    fn the_queue_is_bounded_and_is_written_in_batches() {
        let queue = RefusedConfirms::default();
        for organisation in 0..1_000 {
            assert!(!matches!(queue.take(refused(organisation), at(0)), Taken::Dropped(_)));
        }
        assert_eq!(queue.take(refused(1_000), at(0)), Taken::Dropped(NotKept::QueueFull));
        let batches: Vec<usize> =
            std::iter::from_fn(|| queue.next_batch()).map(|batch| batch.len()).collect();
        assert_eq!(batches, [100; 10]);
    }
}
