//! The worker: claims due purchases, and resolves them on the engine as far as evidence allows.

use std::{
    hash::{BuildHasher, RandomState},
    pin::pin,
    time::Duration,
};

use clock::Monotonic;
use database::DatabaseError;
use futures_util::future::join_all;
use purchase::{Record, ResolveAnswer};
use store::ClaimedPurchase;
use tokio::task::JoinHandle;
use tracing::{Instrument, Span};

use crate::{
    Service, Vending, WorkerSettings,
    backoff::Backoff,
    measures,
    slots::{Slot, Slots},
};

/// The result of one claim of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkDone {
    /// The number of purchases that were due and have been claimed.
    pub claimed: usize,
    /// The number of those that have ended.
    pub ended: usize,
}

impl Vending {
    /// Works until `stop` resolves: claims due purchases of every connected provider, as many as it has free slots,
    /// and works on them. Any number of workers may run at the same time.
    ///
    /// If there was more than could be claimed, it claims again as soon as a slot is free. Otherwise it claims again
    /// after a pause. If the database fails, the worker tries again at growing intervals.
    ///
    /// After `stop` it claims nothing more, and waits for the work in progress on the engine. A purchase that has not
    /// ended by the deadline is claimed by another process when its lease has run out.
    pub async fn work(&self, settings: &WorkerSettings, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let mut slots = Slots::new(self.0.providers.keys(), settings.slots_per_provider);
        let mut trouble = Trouble::default();
        loop {
            let since = self.0.clock.monotonic();
            let pause = match self.0.claim_due(&mut slots).await {
                Ok(claimed) => {
                    trouble.is_over();
                    for (purchase, slot) in claimed {
                        drop(self.begin(purchase, slot, since));
                    }
                    settings.idle_pause()
                }
                Err(error) => trouble.because(&error),
            };
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = slots.more_can_be_claimed() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
        tracing::info!(under_way = self.0.engine.under_way(), "stopping");
        self.0.engine.drain(settings.drain()).await;
    }

    /// Claims the due purchases once, and works on them until this attempt ends. For callers that work step by step.
    pub async fn work_once(&self) -> WorkDone {
        let mut slots = Slots::new(self.0.providers.keys(), WorkerSettings::default().slots_per_provider);
        let since = self.0.clock.monotonic();
        let claimed = match self.0.claim_due(&mut slots).await {
            Ok(claimed) => claimed,
            Err(error) => {
                Trouble::default().because(&error);
                return WorkDone::default();
            }
        };
        let begun = claimed.into_iter().map(|(purchase, slot)| self.begin(purchase, slot, since));
        let answers = join_all(begun).await;
        let ended = answers.iter().filter(|answer| matches!(answer, Ok(ResolveAnswer::Final)));
        WorkDone { claimed: answers.len(), ended: ended.count() }
    }

    /// The slot is released when the work ends or is cancelled.
    fn begin(&self, purchase: ClaimedPurchase, slot: Slot, since: Monotonic) -> JoinHandle<ResolveAnswer> {
        let vending = self.clone();
        let span = span_of_run(&purchase.record);
        let work = async move {
            let _in_hand = slot;
            vending.0.resolve_claimed(purchase, since).await
        };
        self.0.engine.begin(work.instrument(span))
    }
}

impl Service {
    async fn claim_due(&self, slots: &mut Slots) -> Result<Vec<(ClaimedPurchase, Slot)>, DatabaseError> {
        let free = slots.ask();
        if free.is_empty() {
            return Ok(Vec::new());
        }
        let claimed = self.store.claim_due(free.clone()).await?;
        measures::claimed(claimed.len());
        let records = claimed.iter().map(|purchase| &purchase.record);
        let taken =
            slots.fill(&free, records.map(|record| (record.provider_code.as_str(), record.organisation)));
        Ok(claimed.into_iter().zip(taken).collect())
    }
}

/// The span of all log lines about this work. Purchase and fence identify the work among all workers, and in the
/// purchase's history.
fn span_of_run(record: &Record) -> Span {
    tracing::info_span!(
        "resolve",
        request_id = record.request_id.as_deref(),
        purchase = record.id.0,
        run = record.lifecycle.fence.0,
    )
}

/// Several workers lose the same database at the same moment. The standard library seeds its hash maps from the system.
fn seed_of_this_process() -> u64 {
    RandomState::new().hash_one(())
}

/// The state of a database that fails: it is logged once, and asked again at growing intervals.
#[derive(Debug, Default)]
struct Trouble(Option<Backoff>);

impl Trouble {
    const LONGEST_PAUSE: Duration = Duration::from_secs(30);

    /// How long to wait before the next try.
    fn because(&mut self, error: &DatabaseError) -> Duration {
        if self.0.is_none() {
            let cause: &dyn std::error::Error = error;
            tracing::error!(cause, "nothing can be claimed; it will be tried again and again");
        }
        self.0.get_or_insert_with(|| Backoff::up_to(Self::LONGEST_PAUSE, seed_of_this_process())).next_pause()
    }

    fn is_over(&mut self) {
        if self.0.take().is_some() {
            tracing::info!("work can be claimed again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_in_trouble_is_left_alone_for_half_a_minute_at_most() {
        let mut trouble = Trouble::default();
        let first = trouble.because(&DatabaseError::Stopped);
        assert!(first < Duration::from_secs(1), "{first:?}");
        let pauses: Vec<Duration> = (0..20).map(|_| trouble.because(&DatabaseError::Stopped)).collect();
        let longest = Trouble::LONGEST_PAUSE;
        assert!(pauses.iter().all(|pause| *pause <= longest), "{pauses:?}");
        assert!(pauses.iter().rev().take(5).all(|pause| *pause >= longest / 2), "{pauses:?}");
        trouble.is_over();
        assert!(trouble.because(&DatabaseError::Stopped) < Duration::from_secs(1), "it begins anew");
    }
}
