//! The queue of one lane. Takes the waiting jobs group by group.

use std::{mem, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt as _;
use tokio::{
    sync::mpsc,
    time::{Interval, MissedTickBehavior, interval},
};

use super::{LaneContext, RecordJob, ReserveJob, group::Group, stuck::StuckWallets};

/// The pause between two attempts to commit the same records, while the database is unavailable or a wallet stays
/// locked. Other jobs are run meanwhile.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Queue {
    reserves: mpsc::Receiver<ReserveJob>,
    records: mpsc::UnboundedReceiver<RecordJob>,
    /// Records that could not be committed yet. They are retried until they are.
    deferred: Vec<RecordJob>,
}

impl Queue {
    pub(super) const fn new(
        reserves: mpsc::Receiver<ReserveJob>,
        records: mpsc::UnboundedReceiver<RecordJob>,
    ) -> Self {
        Self { reserves, records, deferred: Vec::new() }
    }

    /// Runs the lane until its senders are gone and all records are committed.
    pub(super) async fn run(mut self, context: LaneContext) {
        let mut stuck = StuckWallets::none();
        let mut pause = interval(PAUSE);
        pause.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while let Some(group) = self.next(context.group_max, &mut pause).await {
            let deferred = catch_panic(group.run(&context, &mut stuck)).await;
            if self.deferred.is_empty() && !deferred.is_empty() {
                pause.reset();
            }
            self.deferred.extend(deferred);
        }
    }

    /// Takes the waiting records and reserves. Waits for the first of them, or for the end of the pause if there are
    /// deferred records. Those are a group without reserves, so that what defers them delays no reserve of their group.
    async fn next(&mut self, group_max: usize, pause: &mut Interval) -> Option<Group> {
        let mut group = Group::default();
        tokio::select! {
            biased;
            _ = pause.tick(), if !self.deferred.is_empty() => {
                group.records = mem::take(&mut self.deferred);
                return Some(group);
            }
            Some(record) = self.records.recv() => group.records.push(record),
            Some(job) = self.reserves.recv() => group.reserves.push(job),
            else => return None,
        }
        while group.len() < group_max
            && let Ok(job) = self.records.try_recv()
        {
            group.records.push(job);
        }
        while group.len() < group_max
            && let Ok(job) = self.reserves.try_recv()
        {
            group.reserves.push(job);
        }
        Some(group)
    }
}

/// Catches a panic. A panic is a defect, and must not end a lane that other callers rely on. Its transaction ends with
/// its connection. Its jobs get no answer, so their callers see them as not acknowledged.
async fn catch_panic(group: impl Future<Output = Vec<RecordJob>>) -> Vec<RecordJob> {
    AssertUnwindSafe(group).catch_unwind().await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_group_that_panics_does_not_end_its_lane() {
        let panics = async { panic!("a defect") };
        assert!(catch_panic(panics).await.is_empty());
    }
}
