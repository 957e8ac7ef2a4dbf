//! Callers that wait for an event. One task looks for all of them with one statement, while there are any. No caller
//! holds a connection.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{Array, BigInt, Bool, Text};
use purchase::OrganisationId;
use tokio::{
    sync::{oneshot, watch},
    time::{sleep, timeout},
};

use crate::{EventType, Feed, FeedPage, Position, measures};

/// The interval between two looks at the feed.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The maximum number of events that a look examines for one caller. The next look goes on there.
const EXAMINED_MAX: i64 = 500;
/// The maximum number of callers that wait in this process. A look costs a search in an index for each.
const WAITING_MAX: usize = 1_000;
/// The maximum number of them of one organisation, so that none takes the places of others.
const WAITING_OF_ONE_MAX: usize = 20;

struct LookForEvents;

impl Statement for LookForEvents {
    const SQL: &str = include_str!("sql/look_for_events.sql");
}

#[derive(diesel::QueryableByName)]
struct SeenRow {
    #[diesel(sql_type = BigInt)]
    reader: i64,
    #[diesel(sql_type = BigInt)]
    transaction_no: i64,
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Bool)]
    is_wanted: bool,
}

/// The callers that wait in this process.
#[derive(Default)]
pub(crate) struct Waiters {
    waiting: Mutex<Waiting>,
    stopped: watch::Sender<bool>,
}

#[derive(Default)]
struct Waiting {
    callers: BTreeMap<u64, Caller>,
    next: u64,
    is_looked_for: bool,
}

struct Caller {
    organisation: OrganisationId,
    /// Up to where there is nothing for this caller.
    after: Position,
    /// The names of the wanted types, with commas between them.
    kinds: String,
    wake: oneshot::Sender<()>,
}

/// A place among the callers that wait. It is given up when this is dropped.
struct Place {
    waiters: Arc<Waiters>,
    number: u64,
    woken: oneshot::Receiver<()>,
}

impl Feed {
    /// Like [`Feed::events_after`]. If there is no event, waits until there is one, for `wait` at most. It may wait for a
    /// shorter time: if very many callers wait, or if the process stops.
    ///
    /// # Errors
    /// Like [`Feed::events_after`].
    pub async fn events_within(
        &self,
        organisation: OrganisationId,
        after: Option<Position>,
        types: &[EventType],
        limit: u16,
        wait: Duration,
    ) -> Result<Option<FeedPage>, DatabaseError> {
        let first = self.events_after(organisation, after, types, limit).await?;
        let Some(empty) = first.as_ref().filter(|page| page.events.is_empty() && !page.has_more) else {
            return Ok(first);
        };
        if wait.is_zero() || !self.wait_for_event(organisation, empty.next, types, wait).await {
            return Ok(first);
        }
        self.events_after(organisation, after, types, limit).await
    }

    /// Ends all waits, now and later, because the process stops.
    pub fn end_waits(&self) {
        self.waiters.stopped.send_replace(true);
    }

    /// Whether it waited. An event may be there.
    async fn wait_for_event(
        &self,
        organisation: OrganisationId,
        after: Position,
        types: &[EventType],
        wait: Duration,
    ) -> bool {
        let kinds: Vec<&str> = types.iter().map(|one| one.as_str()).collect();
        let Some(mut place) = Waiters::enter(&self.waiters, organisation, after, kinds.join(",")) else {
            return false;
        };
        if self.waiters.lock().begins_to_look() {
            let (waiters, database) = (Arc::clone(&self.waiters), self.database.clone());
            self.database.engine().spawn(look_for_all(waiters, database));
        }
        let mut stopped = self.waiters.stopped.subscribe();
        let ended = timeout(wait, async {
            tokio::select! {
                _woken = &mut place.woken => {}
                _stopped = stopped.wait_for(|is_stopped| *is_stopped) => {}
            }
        });
        let _in_time: Result<(), _> = ended.await;
        true
    }
}

/// Looks until no caller waits.
async fn look_for_all(waiters: Arc<Waiters>, database: Database) {
    loop {
        sleep(LOOK_EVERY).await;
        let Some(readers) = waiters.lock().readers() else { return };
        match look(&database, &readers).await {
            Ok(seen) => waiters.lock().show(&readers, &seen),
            Err(error) => {
                let cause: &dyn std::error::Error = &error;
                tracing::warn!(cause, "the feed could not be looked at for the callers that wait");
            }
        }
    }
}

/// What a look needs of a caller.
struct Reader {
    number: u64,
    organisation: i64,
    after: Position,
    kinds: String,
}

async fn look(database: &Database, readers: &[Reader]) -> Result<Vec<SeenRow>, DatabaseError> {
    let organisations: Vec<i64> = readers.iter().map(|reader| reader.organisation).collect();
    let transactions: Vec<i64> = readers.iter().map(|reader| reader.after.transaction).collect();
    let numbers: Vec<i64> = readers.iter().map(|reader| reader.after.number).collect();
    let kinds: Vec<String> = readers.iter().map(|reader| reader.kinds.clone()).collect();
    let seen = database.read(move |connection| {
        let look = prepared::<LookForEvents>()
            .bind::<Array<BigInt>, _>(organisations)
            .bind::<Array<BigInt>, _>(transactions)
            .bind::<Array<BigInt>, _>(numbers)
            .bind::<Array<Text>, _>(kinds)
            .bind::<BigInt, _>(EXAMINED_MAX);
        Box::pin(async move { look.load::<SeenRow>(connection).await })
    });
    seen.await
}

impl Waiters {
    /// Takes a place, if one is free and the process does not stop.
    fn enter(
        waiters: &Arc<Self>,
        organisation: OrganisationId,
        after: Position,
        kinds: String,
    ) -> Option<Place> {
        if *waiters.stopped.borrow() {
            return None;
        }
        let mut waiting = waiters.lock();
        let of_one = waiting.callers.values().filter(|caller| caller.organisation == organisation).count();
        if waiting.callers.len() >= WAITING_MAX || of_one >= WAITING_OF_ONE_MAX {
            return None;
        }
        let (wake, woken) = oneshot::channel();
        let number = waiting.next;
        waiting.next = number.wrapping_add(1);
        waiting.callers.insert(number, Caller { organisation, after, kinds, wake });
        measures::waiting(waiting.callers.len());
        drop(waiting);
        Some(Place { waiters: Arc::clone(waiters), number, woken })
    }

    /// No caller panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Whether the caller of this must begin to look, because no task does.
    fn begins_to_look(&mut self) -> bool {
        !std::mem::replace(&mut self.is_looked_for, true)
    }

    /// The callers to look for. `None` if there are none: then no task looks any more.
    fn readers(&mut self) -> Option<Vec<Reader>> {
        if self.callers.is_empty() {
            self.is_looked_for = false;
            return None;
        }
        let reader = |(number, caller): (&u64, &Caller)| Reader {
            number: *number,
            organisation: caller.organisation.0,
            after: caller.after,
            kinds: caller.kinds.clone(),
        };
        Some(self.callers.iter().map(reader).collect())
    }

    /// Wakes the callers for which there is an event, and notes up to where there is none for the others.
    fn show(&mut self, readers: &[Reader], seen: &[SeenRow]) {
        for row in seen {
            let index = usize::try_from(row.reader.saturating_sub(1)).ok();
            let Some(reader) = index.and_then(|index| readers.get(index)) else { continue };
            if row.is_wanted {
                if let Some(caller) = self.callers.remove(&reader.number) {
                    // The caller may have gone away just now.
                    let _gone: Result<(), ()> = caller.wake.send(());
                }
            } else if let Some(caller) = self.callers.get_mut(&reader.number) {
                caller.after = Position { transaction: row.transaction_no, number: row.id };
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut waiting = self.waiters.lock();
        waiting.callers.remove(&self.number);
        measures::waiting(waiting.callers.len());
    }
}
