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
use store::{ClaimedPurchase, WorkerId};
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
    /// and works on them. Any number of workers may run at the same time, and share the slots of each provider.
    ///
    /// If there was more than could be claimed, it claims again as soon as a slot is free. Otherwise it claims again
    /// after a pause. If the database fails, the worker tries again at growing intervals.
    ///
    /// After `stop` it claims nothing more, and waits for the work in progress on the engine. A purchase that has not
    /// ended by the deadline is claimed by another process when its lease has run out.
    pub async fn work(&self, settings: &WorkerSettings, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let mut slots = self.0.slots(settings.slots_per_provider);
        let mut trouble = Trouble::default();
        loop {
            let since = self.0.clock.monotonic();
            let pause = match self.claim(&mut slots, since).await {
                Ok(()) => {
                    trouble.is_over();
                    settings.idle_pause()
                }
                Err(error) => trouble.because(&error),
            };
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = self.0.wait_for_work(&mut slots, pause) => {}
            }
        }
        tracing::info!(under_way = self.0.engine.under_way(), "stopping");
        slots.take_no_more();
        let is_done = tokio::select! {
            is_done = self.0.engine.drain(settings.drain()) => is_done,
            () = self.0.keep_shares(&mut slots) => false,
        };
        if is_done {
            self.0.give_up_shares(&slots).await;
        }
    }

    /// Claims the due purchases once, and works on them until this attempt ends. For callers that work step by step.
    pub async fn work_once(&self) -> WorkDone {
        let mut slots = self.0.slots(WorkerSettings::default().slots_per_provider);
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
        self.0.give_up_shares(&slots).await;
        let ended = answers.iter().filter(|answer| matches!(answer, Ok(ResolveAnswer::Final)));
        WorkDone { claimed: answers.len(), ended: ended.count() }
    }

    /// Claims due purchases first, and then lines of batches for the slots that are left, and begins to work on them. The lines
    /// arrived when they were taken: a worker that was suspended since then buys nothing.
    async fn claim(&self, slots: &mut Slots, since: Monotonic) -> Result<(), DatabaseError> {
        for (purchase, slot) in self.0.claim_due(slots).await? {
            drop(self.begin(purchase, slot, since));
        }
        let since = self.0.clock.monotonic();
        for (line, slot) in self.0.take_lines(slots).await? {
            drop(self.begin_line(line, slot, since));
        }
        Ok(())
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
    /// The slots of one more worker.
    fn slots(&self, most: u16) -> Slots {
        let worker = WorkerId(seed_of_this_process().cast_signed());
        Slots::new(worker, self.providers.keys(), most)
    }

    async fn claim_due(&self, slots: &mut Slots) -> Result<Vec<(ClaimedPurchase, Slot)>, DatabaseError> {
        if self.until_renewal(slots).is_none_or(|left| left.is_zero()) {
            self.renew_shares(slots).await?;
        }
        let now = self.clock.monotonic();
        let free = slots.ask(now);
        if free.is_empty() {
            return Ok(Vec::new());
        }
        let claimed = self.store.claim_due(free.clone()).await?;
        measures::claimed(claimed.len());
        let taken = slots.fill_due(&free, &claimed, now);
        Ok(claimed.into_iter().zip(taken).collect())
    }

    /// Waits for a free slot or until the end of the pause, and renews the shares meanwhile. Ends if that fails: then the next
    /// claim renews them.
    async fn wait_for_work(&self, slots: &mut Slots, pause: Duration) {
        let mut pause = pin!(tokio::time::sleep(pause));
        loop {
            let renewal = self.until_renewal(slots);
            tokio::select! {
                biased;
                () = slots.more_can_be_claimed(), if renewal.is_some() => return,
                () = &mut pause => return,
                () = tokio::time::sleep(renewal.unwrap_or_default()), if renewal.is_some() => {
                    if self.renew_shares(slots).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Never returns.
    async fn keep_shares(&self, slots: &mut Slots) {
        loop {
            if let Err(error) = self.renew_shares(slots).await {
                let cause: &dyn std::error::Error = &error;
                tracing::warn!(cause, "the share of the providers' slots was not renewed");
            }
            tokio::time::sleep(self.settings.timing().renewal()).await;
        }
    }

    fn until_renewal(&self, slots: &Slots) -> Option<Duration> {
        slots.until_renewal(self.clock.monotonic(), self.settings.timing().renewal())
    }

    async fn renew_shares(&self, slots: &mut Slots) -> Result<(), DatabaseError> {
        let since = self.clock.monotonic();
        let shares = self.store.renew_slot_shares(slots.worker(), slots.wanted()).await?;
        measures::slot_shares(&shares);
        slots.are_shared(&shares, since);
        Ok(())
    }

    /// If this fails, the lease of the shares ends soon.
    async fn give_up_shares(&self, slots: &Slots) {
        if let Err(error) = self.store.give_up_slot_shares(slots.worker()).await {
            let cause: &dyn std::error::Error = &error;
            tracing::warn!(cause, "the share of the providers' slots was not given up; its lease will end");
        }
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
            tracing::error!(cause, "due purchases cannot be claimed; the worker keeps trying");
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
