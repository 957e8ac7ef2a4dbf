//! The queue of one lane. Takes the waiting jobs group by group.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::group::Group;
use super::{LaneContext, RecordJob, ReserveJob};

/// The pause between two attempts to commit the same records, while the database is unavailable or a wallet stays
/// locked.
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

    /// Runs the lane until its senders are gone.
    pub(super) async fn run(mut self, context: LaneContext) {
        while let Some(group) = self.next(context.group_max).await {
            let busy = catch_panic(group.run(&context)).await;
            self.deferred.extend(busy);
            if self.deferred.is_empty() {
                continue;
            }
            sleep(PAUSE).await;
            // In a group without reserves, so that a wallet that stays locked does not delay other reserves.
            let records = std::mem::take(&mut self.deferred);
            self.deferred = catch_panic(Group { records, reserves: Vec::new() }.run(&context)).await;
        }
    }

    /// Takes the waiting records and reserves. Waits for the first of them, unless there are deferred records.
    async fn next(&mut self, group_max: usize) -> Option<Group> {
        let mut group = Group::default();
        if self.deferred.is_empty() {
            tokio::select! {
                biased;
                record = self.records.recv() => group.records.push(record?),
                Some(job) = self.reserves.recv() => group.reserves.push(job),
            }
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
