//! Watches the session that migrates, over another session: cancels a statement that waits for a table, and reports the
//! progress of an index.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Mutex,
    task::AbortHandle,
    time::{interval, timeout},
};
use tokio_postgres::Client;

use crate::{DatabaseError, session::row};

const EVERY: Duration = Duration::from_millis(100);
const PROGRESS_EVERY: u32 = 50;
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// How long a statement may wait for a table. After a second of waiting, Postgres ends an automatic vacuum that is in the
/// way (`deadlock_timeout`).
pub(super) const SHORT: Duration = Duration::from_millis(300);
pub(super) const LONGER_THAN_A_VACUUM: Duration = Duration::from_millis(1_200);

/// A watch over one session, until it is dropped.
pub(super) struct Watch {
    seen: Arc<Seen>,
    task: AbortHandle,
}

#[derive(Default)]
struct Seen {
    patience_ms: AtomicU64,
    /// Locked while a statement may be cancelled: it fails before the answer says that it was cancelled.
    holders: Mutex<Option<String>>,
}

impl Watch {
    /// Begins to watch the session of `migrating`, over the session of `client`.
    pub(super) async fn begin(client: Client, migrating: &Client) -> Result<Self, DatabaseError> {
        let asked = row(migrating, "SELECT pg_backend_pid() AS pid").await?;
        let process = asked.as_ref().and_then(|row| row.get("pid")).unwrap_or_default().to_owned();
        let seen = Arc::<Seen>::default();
        let task = tokio::spawn(watch(client, process, seen.clone())).abort_handle();
        Ok(Self { seen, task })
    }

    /// Lets statements wait for a table as long as this.
    pub(super) fn allows(&self, patience: Duration) {
        let millis = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        self.seen.patience_ms.store(millis, Ordering::Relaxed);
    }

    /// The sessions for which a statement was cancelled since the last call. None if the session of the watch does not answer.
    pub(super) async fn gave_way_to(&self) -> Option<String> {
        timeout(ANSWERS_WITHIN, self.seen.holders.lock()).await.ok()?.take()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn watch(client: Client, process: String, seen: Arc<Seen>) {
    let mut ticks = interval(EVERY);
    for tick in 0_u32.. {
        ticks.tick().await;
        let patience_ms = seen.patience_ms.load(Ordering::Relaxed);
        let mut holders = seen.holders.lock().await;
        if let Ok(Some(cancelled)) = row(&client, &cancel(&process, patience_ms)).await {
            *holders = Some(cancelled.get("holders").unwrap_or("unknown").to_owned());
        }
        drop(holders);
        if tick % PROGRESS_EVERY == 0
            && let Ok(Some(progress)) = row(&client, &progress(&process)).await
        {
            tracing::info!(progress = progress.get("progress"), "building an index");
        }
    }
}

/// Cancels the statement if it has waited too long for a lock behind which sales wait. They do not wait behind the lock of an
/// index that is built concurrently.
fn cancel(process: &str, patience_ms: u64) -> String {
    format!(
        "SELECT (SELECT string_agg(format('%s (login %s, process %s)', application_name, usename, pid), ', ')
                 FROM pg_stat_activity WHERE pid = ANY (blocking.pids)) AS holders, pg_cancel_backend(waiting.pid)
         FROM pg_locks waiting, LATERAL (SELECT pg_blocking_pids(waiting.pid) AS pids) blocking
         WHERE waiting.pid = {process} AND NOT waiting.granted AND waiting.locktype = 'relation'
             AND waiting.mode <> 'ShareUpdateExclusiveLock'
             AND waiting.waitstart < clock_timestamp() - interval '{patience_ms} ms'"
    )
}

fn progress(process: &str) -> String {
    format!(
        "SELECT format('%s: %s of %s blocks, %s of %s rows', phase, blocks_done, blocks_total, tuples_done, tuples_total)
             AS progress
         FROM pg_stat_progress_create_index WHERE pid = {process}"
    )
}
