//! What a worker sees to beside its work, again and again: it counts what waits, checks that the books keep their laws, and
//! clears away what has done its duty. Any number of workers may do so side by side; none of it touches money.

use std::time::Duration;

use clock::SharedClock;
use metrics::{describe_gauge, gauge};
use serde::Deserialize;
use store::{Rounds, Store, StoreError, show_breaches};
use tokio::time::{Interval, MissedTickBehavior, interval};

const COUNTED: &str = "vendgate_counted_timestamp_seconds";
const CHECKED: &str = "vendgate_checked_timestamp_seconds";

/// How often.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoundSettings {
    /// Between two counts of what waits, in milliseconds.
    pub count_every_ms: u64,
    /// Between two looks at the books, in milliseconds.
    pub check_every_ms: u64,
    /// Between two times of clearing away, in milliseconds.
    pub purge_every_ms: u64,
}

impl Default for RoundSettings {
    fn default() -> Self {
        Self { count_every_ms: 15_000, check_every_ms: 30_000, purge_every_ms: 3_600_000 }
    }
}

/// Says what is measured here, to whoever keeps it.
pub(crate) fn describe_metrics() {
    describe_gauge!(COUNTED, "When this worker last counted what waits, in seconds since 1970.");
    describe_gauge!(CHECKED, "When this worker last looked at the books, in seconds since 1970.");
}

/// Makes the rounds for ever.
pub(crate) async fn make(settings: RoundSettings, store: Store, clock: SharedClock) {
    tokio::join!(
        count(every(settings.count_every_ms), &store, &clock),
        check(every(settings.check_every_ms), &store, &clock),
        purge(every(settings.purge_every_ms), &store),
    );
}

async fn count(mut due: Interval, store: &Store, clock: &SharedClock) {
    loop {
        due.tick().await;
        match store.count_open().await {
            Ok(open) => {
                open.show();
                done(COUNTED, clock);
            }
            Err(error) => put_off(&error, "what waits could not be counted"),
        }
    }
}

async fn check(mut due: Interval, store: &Store, clock: &SharedClock) {
    let mut rounds = Rounds::default();
    loop {
        due.tick().await;
        match store.check_books(&mut rounds).await {
            Ok(breaches) => {
                show_breaches(&breaches);
                done(CHECKED, clock);
            }
            Err(error) => put_off(&error, "the books could not be checked"),
        }
    }
}

async fn purge(mut due: Interval, store: &Store) {
    loop {
        due.tick().await;
        match store.purge_expired().await {
            Ok(purged) => tracing::info!(?purged, "cleared away"),
            Err(error) => put_off(&error, "not everything could be cleared away"),
        }
    }
}

fn every(milliseconds: u64) -> Interval {
    let mut due = interval(Duration::from_millis(milliseconds.max(1)));
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    due
}

fn done(what: &'static str, clock: &SharedClock) {
    gauge!(what).set(u32::try_from(clock.now().timestamp()).unwrap_or(u32::MAX));
}

fn put_off(error: &StoreError, what: &'static str) {
    let cause: &dyn std::error::Error = error;
    tracing::warn!(cause, "{what}");
}
