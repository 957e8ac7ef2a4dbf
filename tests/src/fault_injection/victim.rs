//! A server that is to be killed or stopped at one failpoint.

use std::{fs, os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

use failpoint::{Action, Trigger};
use sandbox::{Process, Signal, StartError};

use super::{FaultEnv, arming::VARIABLE, until};

/// A running server with a trigger.
pub struct Victim {
    process: Process,
    action: Action,
}

/// Whether the trigger fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The server reached its failpoint.
    Struck,
    /// The server never reached its failpoint.
    Spared,
}

/// Few connections, because many of these servers run at once.
const FRUGAL: [(&str, &str); 4] = [
    ("VENDGATE__STORE__POOL_SIZE", "2"),
    ("VENDGATE__STORE__MONEY_POOL_SIZE", "2"),
    ("VENDGATE__STORE__LANES", "1"),
    ("VENDGATE__ENGINE_THREADS", "1"),
];
/// Small batches, so that several workers share the due purchases.
const MODEST: [(&str, &str); 2] =
    [("VENDGATE__WORKER__SLOTS_PER_PROVIDER", "2"), ("VENDGATE__WORKER__IDLE_PAUSE_MS", "100")];

impl Victim {
    /// Starts an API server with this trigger. Blocks until the server has started. Must not be called on an async
    /// thread.
    pub fn api_server(env: &FaultEnv, name: &str, trigger: Trigger) -> Self {
        let written = trigger.to_string();
        let environment: Vec<(&str, &str)> =
            FRUGAL.into_iter().chain([(VARIABLE, written.as_str())]).collect();
        let start = || env.sandbox.another_api_server(&env.programs.api_server, name, &environment);
        Self { process: started(start), action: trigger.action }
    }

    /// Starts a worker with this trigger, with the same conditions.
    pub fn retry_worker(env: &FaultEnv, name: &str, trigger: Trigger) -> Self {
        let written = trigger.to_string();
        let environment: Vec<(&str, &str)> =
            FRUGAL.into_iter().chain(MODEST).chain([(VARIABLE, written.as_str())]).collect();
        let start = || env.sandbox.another_retry_worker(&env.programs.retry_worker, name, &environment);
        Self { process: started(start), action: trigger.action }
    }

    pub fn url(&self) -> &str {
        self.process.url()
    }

    /// Waits until the failpoint is reached, or until `over` returns true.
    pub async fn is_struck(&mut self, mut over: impl FnMut() -> bool) -> End {
        loop {
            let is_over = over();
            if self.is_at_its_point() {
                return End::Struck;
            }
            if is_over {
                return End::Spared;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Continues the server if it is stopped.
    pub fn wakes(&self) {
        self.process.signal(Signal::CONT).unwrap();
    }

    /// Continues the server if it is stopped, and shuts it down in the regular way.
    pub async fn ends(&mut self, patience: Duration) {
        if self.process.has_ended().is_some() {
            return;
        }
        self.wakes();
        self.process.signal(Signal::TERM).unwrap();
        let mut status = None;
        until("a server that was stopped past its lease continues and ends", patience, async || {
            status = self.process.has_ended();
            status.is_some()
        })
        .await;
        assert!(status.is_some_and(|status| status.success()), "{status:?}");
    }

    fn is_at_its_point(&mut self) -> bool {
        match self.action {
            Action::Kill => self.process.has_ended().is_some_and(is_killed),
            Action::Stop => is_stopped(self.process.id()),
        }
    }
}

/// Whether the failpoint killed the process. A process that ends in any other way is a defect.
fn is_killed(status: ExitStatus) -> bool {
    const KILL: i32 = 9;
    assert_eq!(status.signal(), Some(KILL), "a victim ended before its failpoint: {status:?}");
    true
}

/// A free port may be taken by another server that starts at the same time, so the start is tried three times.
fn started(start: impl Fn() -> Result<Process, StartError>) -> Process {
    start().or_else(|_taken| start()).or_else(|_taken| start()).unwrap()
}

/// Whether the system says that the process is stopped: `T` after the name in parentheses.
fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_killed_by_signal_nine_was_struck() {
        assert!(is_killed(ExitStatus::from_raw(9)));
    }

    #[test]
    #[should_panic(expected = "a victim ended before its failpoint")]
    fn a_process_that_ends_by_itself_was_not_struck() {
        is_killed(ExitStatus::from_raw(256));
    }
}
