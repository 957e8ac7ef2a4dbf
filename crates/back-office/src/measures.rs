//! The metrics of this crate. All of them are named here, so that nothing is counted under two names.

use std::time::Duration;

use database::{Database, DatabaseError};
use metrics::{describe_gauge, gauge};
use purchase::StateName;

use crate::{DatabaseHealth, Invariant, OpenWork, Violation};

const OPEN_PURCHASES: &str = "vendgate_open_purchases";
const OPEN_OLDEST: &str = "vendgate_open_oldest_seconds";
const OVERDUE: &str = "vendgate_overdue_seconds";
const OUTBOX_PENDING: &str = "vendgate_outbox_pending";
const OUTBOX_OLDEST: &str = "vendgate_outbox_oldest_seconds";
const INCIDENTS_OPEN: &str = "vendgate_incidents_open";
const DISCREPANCIES_OPEN: &str = "vendgate_discrepancies_open";
const UNRECONCILED: &str = "vendgate_unreconciled_seconds";
const FEED_HELD_BACK: &str = "vendgate_feed_held_back_seconds";
const WEBHOOKS_BEHIND: &str = "vendgate_webhooks_behind_seconds";
const DATABASE_SIZE: &str = "vendgate_database_megabytes";
const STANDBYS: &str = "vendgate_standbys";
const REPLICATION_LAG: &str = "vendgate_replication_lag_megabytes";
const UNARCHIVED: &str = "vendgate_unarchived_seconds";
const ARCHIVE_FAILS: &str = "vendgate_archive_failing";
const CLOCKS_APART: &str = "vendgate_clocks_apart_seconds";
const WALLETS_LOW: &str = "vendgate_wallets_low";
const BREAKER_OPEN: &str = "vendgate_breaker_open";
const FLOAT: &str = "vendgate_provider_float";
const FLOAT_LOW: &str = "vendgate_provider_float_low";
const FLOAT_UNKNOWN: &str = "vendgate_provider_float_unknown_seconds";
const BROKEN_INVARIANTS: &str = "vendgate_broken_invariants";

/// The age of a float that was never reported.
const NEVER_REPORTED: Duration = Duration::from_hours(24 * 365);

const HUNDREDTHS: i64 = 100;

/// The maximum number of violations of one look that are logged. All of them are counted.
const LOGGED_MAX: usize = 20;

/// Describes this crate's metrics to the metrics recorder.
pub fn describe_metrics() {
    describe_gauge!(OPEN_PURCHASES, "Purchases that are open, by state.");
    describe_gauge!(OPEN_OLDEST, "Age of the oldest open purchase, by state.");
    describe_gauge!(OVERDUE, "How long the first purchase of all that are due has waited for a worker.");
    describe_gauge!(OUTBOX_PENDING, "Messages that are not sent yet and not given up.");
    describe_gauge!(OUTBOX_OLDEST, "Age of the oldest message that is owed.");
    describe_gauge!(
        INCIDENTS_OPEN,
        "Vends that came after the end of their purchase and are not closed yet."
    );
    describe_gauge!(
        DISCREPANCIES_OPEN,
        "Discrepancies with the statements of providers that are not closed yet, by kind."
    );
    describe_gauge!(
        UNRECONCILED,
        "How long ago the last reconciled period ended, of the provider that is furthest behind."
    );
    describe_gauge!(
        FEED_HELD_BACK,
        "How long the oldest event of the feed has been held back by an older open transaction."
    );
    describe_gauge!(
        WEBHOOKS_BEHIND,
        "How long the oldest event has waited for a worker at a webhook endpoint that accepts what it is sent."
    );
    describe_gauge!(DATABASE_SIZE, "Size of the database in MiB, without the write-ahead log.");
    describe_gauge!(STANDBYS, "Standbys and receivers of the log, by whether their position may be seen.");
    describe_gauge!(
        REPLICATION_LAG,
        "How far the standby that lags most is behind, of those that are connected: the WAL that it has not stored yet, in MiB."
    );
    describe_gauge!(UNARCHIVED, "How long ago a part of the log was archived, if the database archives.");
    describe_gauge!(ARCHIVE_FAILS, "1 if the last attempt to archive a part of the log has failed.");
    describe_gauge!(CLOCKS_APART, "How far the clocks of this process and the database are apart at least.");
    describe_gauge!(
        WALLETS_LOW,
        "Wallets in which less is left than they use on an average day of the last week."
    );
    describe_gauge!(
        BREAKER_OPEN,
        "1 if a circuit breaker has paused the sales of a provider that does not answer."
    );
    describe_gauge!(
        FLOAT,
        "Our float at a provider, as the provider last reported it, in whole units of the currency."
    );
    describe_gauge!(FLOAT_LOW, "1 if our float at a provider is below the limit that an operator has set.");
    describe_gauge!(
        FLOAT_UNKNOWN,
        "How long ago a provider reported our float, if an operator has set a limit for it."
    );
    describe_gauge!(BROKEN_INVARIANTS, "Violations of the invariants of the books, by invariant.");
}

/// Sets the gauges of the waiting work.
pub(crate) fn waiting(open: &OpenWork) {
    for state in StateName::ALL.into_iter().filter(|state| state.is_open()) {
        let (backlog, state) = (open.in_state(state), state.as_str().to_lowercase());
        gauge!(OPEN_PURCHASES, "state" => state.clone()).set(backlog.waiting);
        gauge!(OPEN_OLDEST, "state" => state).set(backlog.oldest);
    }
    gauge!(OVERDUE).set(open.overdue);
    gauge!(OUTBOX_PENDING).set(open.outbox.waiting);
    gauge!(OUTBOX_OLDEST).set(open.outbox.oldest);
    gauge!(INCIDENTS_OPEN).set(open.incidents.waiting);
    for (kind, backlog) in open.discrepancies.by_kind() {
        gauge!(DISCREPANCIES_OPEN, "kind" => kind).set(backlog.waiting);
    }
    gauge!(UNRECONCILED).set(open.unreconciled);
    gauge!(FEED_HELD_BACK).set(open.held_back.oldest);
    gauge!(WEBHOOKS_BEHIND).set(open.webhooks.oldest);
}

/// Sets the gauges of the database.
pub(crate) fn database(health: &DatabaseHealth) {
    gauge!(DATABASE_SIZE).set(health.megabytes);
    gauge!(STANDBYS, "seen" => "yes").set(health.standbys_seen);
    gauge!(STANDBYS, "seen" => "no").set(health.standbys_unseen);
    gauge!(REPLICATION_LAG).set(health.behind_megabytes);
    gauge!(UNARCHIVED).set(health.unarchived);
    gauge!(ARCHIVE_FAILS).set(u32::from(health.archive_fails));
    gauge!(CLOCKS_APART).set(health.clocks_apart);
}

/// This number of wallets is low against their own use.
pub(crate) fn low_wallets(number: usize) {
    gauge!(WALLETS_LOW).set(u32::try_from(number).unwrap_or(u32::MAX));
}

/// Sets the gauges of the circuit breakers. A provider without one has a gauge, too, so that one that is removed is not open for ever.
///
/// # Errors
/// If the database does not answer.
pub async fn show_breakers(database: &Database) -> Result<(), DatabaseError> {
    let breakers = catalogue::list_breakers(database).await?;
    for provider in catalogue::list_providers(database).await? {
        let is_open = breakers.iter().any(|listed| listed.provider_code == provider.code && listed.is_open);
        gauge!(BREAKER_OPEN, "provider" => provider.code).set(u32::from(is_open));
    }
    Ok(())
}

/// Sets the gauges of our floats at providers.
///
/// # Errors
/// If the database does not answer.
pub async fn show_floats(database: &Database) -> Result<(), DatabaseError> {
    for float in catalogue::list_floats(database).await? {
        let labels =
            [("provider", float.provider_code.clone()), ("currency", float.currency.as_str().to_owned())];
        if let Some((left, _)) = float.told {
            gauge!(FLOAT, &labels).set(u32::try_from(left.minor() / HUNDREDTHS).unwrap_or_default());
        }
        gauge!(FLOAT_LOW, &labels).set(u32::from(float.is_low()));
        let unknown_for =
            if float.low_below.is_some() { float.age.unwrap_or(NEVER_REPORTED) } else { Duration::ZERO };
        gauge!(FLOAT_UNKNOWN, &labels).set(unknown_for);
    }
    Ok(())
}

/// Sets the gauges of this process to what [`check_books`](crate::check_books) has found, and logs the
/// violations. A person must look at each of them.
pub fn show_violations(violations: &[Violation]) {
    for invariant in Invariant::ALL {
        let broken = violations.iter().filter(|violation| violation.invariant == invariant).count();
        gauge!(BROKEN_INVARIANTS, "invariant" => invariant.name())
            .set(u32::try_from(broken).unwrap_or(u32::MAX));
    }
    for Violation { invariant, subject, finding } in violations.iter().take(LOGGED_MAX) {
        tracing::error!(
            invariant = invariant.name(),
            subject,
            finding,
            "an invariant of the books is violated"
        );
    }
    if violations.len() > LOGGED_MAX {
        tracing::error!(
            broken = violations.len(),
            "more invariants of the books are violated than are listed here"
        );
    }
}
