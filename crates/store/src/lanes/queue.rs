//! One lane's queue: what waits for it, taken group by group.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::group::Group;
use super::{LaneContext, RecordJob, ReserveJob};

/// Between two attempts to keep the same records, while the database is away or a wallet stays locked.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Queue {
    reserves: mpsc::Receiver<ReserveJob>,
    records: mpsc::UnboundedReceiver<RecordJob>,
    /// Records that could not be kept yet. They are tried until they are.
    kept_back: Vec<RecordJob>,
}

impl Queue {
    pub(super) const fn new(
        reserves: mpsc::Receiver<ReserveJob>,
        records: mpsc::UnboundedReceiver<RecordJob>,
    ) -> Self {
        Self { reserves, records, kept_back: Vec::new() }
    }

    /// Runs the lane until nobody can send to it any more.
    pub(super) async fn run(mut self, context: LaneContext) {
        while let Some(group) = self.next(context.group_max).await {
            let busy = outlive(group.run(&context)).await;
            self.kept_back.extend(busy);
            if self.kept_back.is_empty() {
                continue;
            }
            sleep(PAUSE).await;
            // Alone, so that a wallet that somebody keeps locked holds up nobody else's reserve.
            let records = std::mem::take(&mut self.kept_back);
            self.kept_back = outlive(Group { records, reserves: Vec::new() }.run(&context)).await;
        }
    }

    /// What waits, records and reserves; waits for the first of them unless there are records kept back.
    async fn next(&mut self, group_max: usize) -> Option<Group> {
        let mut group = Group::default();
        if self.kept_back.is_empty() {
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

/// A panic is a defect of ours, and must not end a lane on which so many others rely. Its transaction goes with its
/// connection, and its jobs are answered by nobody: to whoever waits for them they are not acknowledged.
async fn outlive(group: impl Future<Output = Vec<RecordJob>>) -> Vec<RecordJob> {
    AssertUnwindSafe(group).catch_unwind().await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_group_that_panics_does_not_end_its_lane() {
        let panics = async { panic!("a defect") };
        assert!(outlive(panics).await.is_empty());
    }
}
