//! The runtime on which money moves: its tasks cannot be cancelled by their callers.

mod runtime;

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

pub use runtime::EngineRuntime;

/// A runtime of its own, and a tracker of the tasks on it. A task here does not end when a client disconnects or a
/// server stops.
#[derive(Clone, Debug)]
pub struct Engine {
    runtime: Handle,
    under_way: TaskTracker,
}

/// The task ended without a result: it panicked, or the engine was stopped.
#[derive(Debug, thiserror::Error)]
#[error("the engine lost the task")]
pub(crate) struct Lost;

impl Engine {
    /// An engine on this runtime, which must outlive every server.
    pub fn new(runtime: Handle) -> Self {
        Self { runtime, under_way: TaskTracker::new() }
    }

    /// The runtime. The store uses it, because its connections run on it.
    pub const fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Runs a task to its end, no matter what happens to the caller.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Lost> {
        self.begin(task).await.map_err(|error| {
            // The panic's message may contain the data of the task. The panic itself is logged where it happens.
            tracing::error!(panicked = error.is_panic(), "a task of the engine ended without a result");
            Lost
        })
    }

    /// Begins a task that runs to its end even if no caller waits for it. Its log lines are in the caller's span, and
    /// so have the id of the request that caused it.
    pub(crate) fn begin<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.under_way.spawn_on(Box::pin(task).in_current_span(), &self.runtime)
    }

    /// Waits until no task is in progress, for at most `deadline`. Returns true if all tasks are done. A purchase
    /// that is not done by then is claimed by another process once its lease has run out.
    pub async fn drain(&self, deadline: Duration) -> bool {
        self.under_way.close();
        let is_done = tokio::time::timeout(deadline, self.under_way.wait()).await.is_ok();
        if is_done {
            tracing::info!("stopped with nothing under way");
        } else {
            let under_way = self.under_way();
            tracing::warn!(under_way, "stopped with purchases under way; their leases will run out");
        }
        is_done
    }

    /// How many tasks are in progress.
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_task_outlives_its_caller() {
        let engine = Engine::new(Handle::current());
        let (release, released) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel();
        let waiting = engine.run(async move {
            let _released = released.await;
            let _gone = done.send("vended");
        });
        assert!(tokio::time::timeout(Duration::from_millis(10), waiting).await.is_err());
        assert_eq!(engine.under_way(), 1);
        release.send(()).unwrap();
        assert_eq!(is_done.await, Ok("vended"));
        assert!(engine.drain(Duration::from_secs(5)).await);
    }
}
