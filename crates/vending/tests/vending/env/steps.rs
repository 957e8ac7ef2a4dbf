//! The worker, step by step: time passes until a purchase is due, and the worker handles it.

use std::time::Duration;

use tokio::sync::oneshot;
use vending::WorkerSettings;

use super::TestEnv;

impl TestEnv {
    /// Runs the worker once over everything that is due. Returns how many purchases it claimed.
    pub async fn works_once(&self) -> usize {
        self.vending.work_once().await.claimed
    }

    /// Runs a worker until the future has completed, and stops it.
    pub async fn works_until(&self, settings: &WorkerSettings, this: impl Future<Output = ()>) {
        let (tell, told) = oneshot::channel::<()>();
        let telling = async {
            this.await;
            tell.send(()).unwrap();
        };
        tokio::join!(self.vending.work(settings, async { told.await.unwrap() }), telling);
    }

    /// Asserts that each provider was asked about each of its orders exactly once.
    #[track_caller]
    pub fn every_purchase_was_asked_about_once(&self) {
        for provider in [&self.utility, &self.neighbour] {
            let calls = provider.calls();
            for order in calls.iter().filter_map(|call| call.strip_prefix("vend ")) {
                let asked = calls.iter().filter(|call| call.strip_prefix("enquire ") == Some(order)).count();
                assert_eq!(asked, 1, "about {order}");
            }
        }
    }

    /// Lets time pass: it advances the clock and moves every open purchase into the past. A closed reference
    /// comes to the end of its rest.
    pub fn time_passes(&self, length: Duration) {
        self.clock.advance(length);
        let back = format!("interval '{} milliseconds'", length.as_millis());
        self.sql(&format!(
            "{FREELY}; UPDATE purchases SET {} WHERE ended_at IS NULL;
             UPDATE closed_references SET closed_at = closed_at - {back}, rests_until = rests_until - {back};
             UPDATE slot_shares SET lease_until = lease_until - {back}",
            MADE_EARLIER.replace("$1", &back)
        ));
    }

    /// Lets time pass until a purchase is due, if one will be within this time. Returns how long that was.
    pub fn time_passes_until_work_is_due(&self, within: Duration) -> Option<Duration> {
        let within = within.as_millis();
        let passed = self.sql(&format!(
            "WITH due AS (
                SELECT ceil(1000 * greatest(0, extract(epoch FROM min(due_at) - clock_timestamp())))::bigint AS ms
                FROM purchases WHERE ended_at IS NULL HAVING count(*) > 0
            ), moved AS (
                UPDATE purchases SET {} FROM due WHERE ended_at IS NULL AND ms <= {within} RETURNING id
            )
            SELECT ms FROM due WHERE ms <= {within}",
            MADE_EARLIER.replace("$1", "ms * interval '1 millisecond'")
        ));
        let passed = Duration::from_millis(passed.parse().ok()?);
        self.clock.advance(passed);
        Some(passed)
    }

    /// Runs the worker on everything that becomes due within this time. Returns after how long each run did
    /// something.
    pub async fn works_for(&self, length: Duration) -> Vec<Duration> {
        self.works_for_with_pauses(length, Duration::ZERO).await
    }

    /// The same for a busy worker, which comes to a purchase so long after it is due, and to all that became due meanwhile.
    pub async fn works_for_with_pauses(&self, length: Duration, pause: Duration) -> Vec<Duration> {
        let (mut passed, mut steps) = (Duration::ZERO, Vec::new());
        while let Some(wait) = self.time_passes_until_work_is_due(length.saturating_sub(passed)) {
            if !pause.is_zero() {
                self.time_passes(pause);
            }
            passed += wait + pause;
            assert_ne!(self.works_once().await, 0, "something is due and not claimed");
            steps.push(passed);
        }
        self.time_passes(length.saturating_sub(passed));
        steps
    }
}

/// Moves every instant of an open purchase back by `$1`.
const MADE_EARLIER: &str = "last_sent_at = last_sent_at - $1, lease_until = lease_until - $1,
    no_record_since = no_record_since - $1, window_closes_at = window_closes_at - $1, due_at = due_at - $1,
    claimed_at = claimed_at - $1, asked_at = asked_at - $1, send_ended_at = send_ended_at - $1,
    earlier_sends_ended_by = earlier_sends_ended_by - $1";

/// Switches triggers off: a closed reference never changes, except in a test.
const FREELY: &str = "SET session_replication_role = replica";
