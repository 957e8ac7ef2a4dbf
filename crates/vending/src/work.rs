//! The worker: claims what is due, and has the engine bring it as far as evidence allows.

use std::pin::pin;
use std::time::Duration;

use clock::Monotonic;
use futures_util::future::join_all;
use purchase::{Record, ResolveAnswer};
use store::{ClaimedPurchase, StoreError};
use tokio::task::JoinHandle;
use tracing::{Instrument, Span};

use crate::backoff::Backoff;
use crate::slots::{Slot, Slots};
use crate::{Desk, Vending, WorkerSettings, measures};

/// What one claim of a worker came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkDone {
    /// Purchases that were due and have been claimed.
    pub claimed: usize,
    /// Those of them that have ended.
    pub ended: usize,
}

impl Vending {
    /// Works until `stop` resolves: claims what is due of every connected provider, no more than has a free slot, and works
    /// on it. Any number of workers may do so side by side.
    ///
    /// While there was more than could be claimed, it claims again as soon as a slot is free; else after a pause. A database
    /// that cannot be asked is asked again at growing intervals.
    ///
    /// Once stopped it claims nothing more, and waits for what is under way on the engine. Whatever has not ended by the
    /// deadline is found by whoever claims it when its lease has run out.
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

    /// Claims once what is due, and works on it to the end of this attempt. For whoever wants to go step by step.
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

    /// The slot is given back when the work is over, or breaks off.
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

impl Desk {
    async fn claim_due(&self, slots: &mut Slots) -> Result<Vec<(ClaimedPurchase, Slot)>, StoreError> {
        let free = slots.ask();
        if free.is_empty() {
            return Ok(Vec::new());
        }
        let claimed = self.store.claim_due(free.clone()).await?;
        measures::claimed(claimed.len());
        let taken = slots.fill(&free, claimed.iter().map(|purchase| purchase.record.provider_code.as_str()));
        Ok(claimed.into_iter().zip(taken).collect())
    }
}

/// Under which every line about this work is logged. Purchase and fence name it among all workers, and in the purchase's
/// history.
fn span_of_run(record: &Record) -> Span {
    tracing::info_span!(
        "resolve",
        request_id = record.request_id.as_deref(),
        purchase = record.id.0,
        run = record.life.fence.0,
    )
}

/// A database that gives nothing out: said once, and asked again at growing intervals.
#[derive(Debug, Default)]
struct Trouble(Option<Backoff>);

impl Trouble {
    const LONGEST_PAUSE: Duration = Duration::from_secs(30);

    /// How long to leave it alone.
    fn because(&mut self, error: &StoreError) -> Duration {
        if self.0.is_none() {
            let cause: &dyn std::error::Error = error;
            tracing::error!(cause, "nothing can be claimed; it will be tried again and again");
        }
        self.0.get_or_insert_with(|| Backoff::up_to(Self::LONGEST_PAUSE)).next_pause()
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
        let first = trouble.because(&StoreError::Stopped);
        assert!(first < Duration::from_secs(1), "{first:?}");
        let pauses: Vec<Duration> = (0..20).map(|_| trouble.because(&StoreError::Stopped)).collect();
        assert!(pauses.is_sorted());
        assert_eq!(pauses.last(), Some(&Trouble::LONGEST_PAUSE));
        trouble.is_over();
        assert_eq!(trouble.because(&StoreError::Stopped), first);
    }
}
