//! The periodic tasks of a worker: it counts the waiting work, asks the database about itself, checks the invariants of the books,
//! carries the cut-offs of statements forward, makes trial balances, looks for wallets that are low, reports secrets that end soon and
//! pauses that begin or end by themselves, pauses the sales of providers that answer nothing, asks for our floats at providers, and
//! deletes expired data and what is older than its retention. Any number of workers may run them at the same time. None of them posts
//! money.

use std::{collections::BTreeSet, time::Duration};

use back_office::{CheckProgress, FeedSettings, RetentionSettings, show_violations};
use chrono::{NaiveTime, TimeZone};
use chrono_tz::Tz;
use clock::SharedClock;
use database::DatabaseError;
use metrics::{describe_gauge, gauge};
use serde::Deserialize;
use store::Store;
use tokio::time::{Interval, MissedTickBehavior, interval};
use vending::Vending;

const COUNTED: &str = "vendgate_counted_timestamp_seconds";
const CHECKED: &str = "vendgate_checked_timestamp_seconds";

/// When a task that failed is tried again, if its interval is longer.
const REPEATED_AFTER: Duration = Duration::from_secs(5);

/// Any number of workers may run these tasks at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoundSettings {
    /// Between two counts of the waiting work, and two questions to the database about itself, in milliseconds.
    pub count_every_ms: u64,
    /// Between two checks of the books, in milliseconds.
    pub check_every_ms: u64,
    /// Between two deletions of expired data and of what is older than its retention, in milliseconds.
    pub purge_every_ms: u64,
    /// Between two rounds over the wallets whose statements are carried forward, between two looks whether a day has ended whose
    /// trial balance is to be made, and between two looks for wallets that are low against their own use, in milliseconds.
    pub carry_every_ms: u64,
    /// Between two looks for pauses of providers that begin or end by themselves, in milliseconds. The feed tells of them so late at most.
    pub pauses_every_ms: u64,
    /// Between two looks whether a circuit breaker is to open or a provider that one has paused is to be tried, in milliseconds.
    pub breakers_every_ms: u64,
    /// Between two questions to each provider for our float there, for all workers together, in milliseconds. Only providers whose
    /// protocol tells it are asked.
    pub floats_every_ms: u64,
}

impl Default for RoundSettings {
    fn default() -> Self {
        Self {
            count_every_ms: 15_000,
            check_every_ms: 30_000,
            purge_every_ms: 3_600_000,
            carry_every_ms: 600_000,
            pauses_every_ms: 5_000,
            breakers_every_ms: 2_000,
            floats_every_ms: 300_000,
        }
    }
}

impl RoundSettings {
    /// The names of the settings that are zero and must not be.
    pub fn zeros(&self) -> impl Iterator<Item = &'static str> {
        let lengths = [
            ("count_every_ms", self.count_every_ms == 0),
            ("check_every_ms", self.check_every_ms == 0),
            ("purge_every_ms", self.purge_every_ms == 0),
            ("carry_every_ms", self.carry_every_ms == 0),
            ("pauses_every_ms", self.pauses_every_ms == 0),
            ("breakers_every_ms", self.breakers_every_ms == 0),
            ("floats_every_ms", self.floats_every_ms == 0),
        ];
        lengths.into_iter().filter_map(|(name, is_zero)| is_zero.then_some(name))
    }
}

/// Registers the descriptions of the metrics of this module.
pub(crate) fn describe_metrics() {
    describe_gauge!(COUNTED, "When this worker last counted what waits, in seconds since 1970.");
    describe_gauge!(CHECKED, "When this worker last looked at the books, in seconds since 1970.");
}

/// Runs the periodic tasks. Never returns.
pub(crate) async fn make(
    settings: RoundSettings,
    (retention, feed): (RetentionSettings, FeedSettings),
    (store, vending): (Store, Vending),
    (clock, zone): (SharedClock, Tz),
) {
    tokio::join!(
        count(every(settings.count_every_ms), &store, &clock),
        look(every(settings.count_every_ms), &store, &clock),
        check(every(settings.check_every_ms), &store, &clock),
        purge(every(settings.purge_every_ms), retention, feed, &store),
        carry(every(settings.carry_every_ms), &store),
        pauses(every(settings.pauses_every_ms), &store),
        low_wallets(every(settings.carry_every_ms), &store),
        breakers(every(settings.breakers_every_ms), &store, &vending),
        trials(every(settings.breakers_every_ms), &vending),
        balance(every(settings.carry_every_ms), &store, &clock, zone),
        floats(every(settings.floats_every_ms), &store, &vending),
    );
}

async fn count(mut due: Interval, store: &Store, clock: &SharedClock) {
    loop {
        due.tick().await;
        match back_office::count_open(store.database()).await {
            Ok(open) => {
                open.show();
                done(COUNTED, clock);
            }
            Err(error) => log_failure(&error, "what waits could not be counted"),
        }
    }
}

/// Asks the database about itself.
async fn look(mut due: Interval, store: &Store, clock: &SharedClock) {
    loop {
        due.tick().await;
        match back_office::read_database_health(store.database(), || clock.now()).await {
            Ok(health) => health.show(),
            Err(error) => log_failure(&error, "the database could not be asked about itself"),
        }
    }
}

async fn check(mut due: Interval, store: &Store, clock: &SharedClock) {
    let mut progress = CheckProgress::default();
    loop {
        due.tick().await;
        match back_office::check_books(store, &mut progress).await {
            Ok(violations) => {
                show_violations(&violations);
                done(CHECKED, clock);
            }
            Err(error) => log_failure(&error, "the books could not be checked"),
        }
    }
}

async fn purge(mut due: Interval, retention: RetentionSettings, feed: FeedSettings, store: &Store) {
    loop {
        due.tick().await;
        match back_office::purge_expired(store.database()).await {
            Ok(purged) => tracing::info!(?purged, "expired data was deleted"),
            Err(error) => log_failure(&error, "not all expired data could be deleted"),
        }
        match back_office::apply_retention(store.database(), retention).await {
            Ok(erased) => tracing::info!(?erased, "data beyond its retention was erased"),
            Err(error) => log_failure(&error, "not all data beyond its retention could be erased"),
        }
        match back_office::keep_feed(store.database(), feed).await {
            Ok(kept) => tracing::info!(?kept, "the feed was kept in order"),
            Err(error) => log_failure(&error, "the feed could not be kept in order"),
        }
    }
}

/// Looks at one wallet after the other, so that no statement has to add up a long history.
async fn carry(mut due: Interval, store: &Store) {
    let mut after = 0;
    loop {
        if after == 0 {
            due.tick().await;
        }
        after = match store.carry_forward(after).await {
            Ok(next) => next.unwrap_or_default(),
            Err(error) => {
                log_failure(&error, "the cut-offs of a wallet could not be carried forward");
                0
            }
        };
    }
}

async fn low_wallets(mut due: Interval, store: &Store) {
    let mut known = BTreeSet::new();
    loop {
        due.tick().await;
        match back_office::list_low_wallets(store.database()).await {
            Ok(low) => back_office::show_low_wallets(&low, &mut known),
            Err(error) => {
                log_failure(&error, "the wallets that are low could not be looked for");
                repeat_soon(&mut due);
            }
        }
    }
}

async fn pauses(mut due: Interval, store: &Store) {
    loop {
        due.tick().await;
        match back_office::tell_of_pauses(store.database()).await {
            Ok(0) => {}
            Ok(told) => tracing::info!(told, "events were written for planned pauses that began or ended"),
            Err(error) => log_failure(&error, "events for planned pauses could not be written"),
        }
    }
}

async fn breakers(mut due: Interval, store: &Store, vending: &Vending) {
    loop {
        due.tick().await;
        if let Err(error) = vending.open_breakers().await {
            log_failure(&error, "no breaker could be opened");
        }
        if let Err(error) = back_office::show_breakers(store.database()).await {
            log_failure(&error, "the breakers could not be read");
        }
    }
}

/// Apart from the above, because a provider that does not answer takes its time.
async fn trials(mut due: Interval, vending: &Vending) {
    loop {
        due.tick().await;
        if let Err(error) = vending.try_paused_providers().await {
            log_failure(&error, "paused providers could not be tried");
        }
    }
}

async fn floats(mut due: Interval, store: &Store, vending: &Vending) {
    loop {
        due.tick().await;
        if let Err(error) = vending.ask_for_floats(due.period()).await {
            log_failure(&error, "our floats at providers could not be asked for");
        }
        if let Err(error) = back_office::show_floats(store.database()).await {
            log_failure(&error, "our floats at providers could not be read");
            repeat_soon(&mut due);
        }
    }
}

/// Makes the trial balance of each midnight of the service, and others while much is sold, so that no report has to add up a long
/// history.
async fn balance(mut due: Interval, store: &Store, clock: &SharedClock, zone: Tz) {
    loop {
        due.tick().await;
        let midnight = clock.now().with_timezone(&zone).date_naive().and_time(NaiveTime::MIN);
        // Where clocks are set forward over a midnight, the day has none.
        let Some(midnight) = zone.from_local_datetime(&midnight).earliest() else { continue };
        if let Err(error) = store.strike_trial_balance(midnight.to_utc()).await {
            log_failure(&error, "the trial balance of last midnight could not be made");
        }
        if let Err(error) = store.carry_trial_balances().await {
            log_failure(&error, "a trial balance between midnights could not be made");
        }
    }
}

fn every(milliseconds: u64) -> Interval {
    let mut due = interval(Duration::from_millis(milliseconds.max(1)));
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    due
}

/// For tasks that are far apart and cost little: an outage of the database at the wrong moment must not cost a whole interval.
fn repeat_soon(due: &mut Interval) {
    due.reset_after(due.period().min(REPEATED_AFTER));
}

fn done(what: &'static str, clock: &SharedClock) {
    gauge!(what).set(u32::try_from(clock.now().timestamp()).unwrap_or(u32::MAX));
}

fn log_failure(error: &DatabaseError, what: &'static str) {
    let cause: &dyn std::error::Error = error;
    tracing::warn!(cause, "{what}");
}
