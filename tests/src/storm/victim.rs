//! A server that is to die, or to stand still, at one point.

use std::{fs, os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

use failpoint::{Action, Order};
use sandbox::{Process, Signal, StartError};

use super::{StormTown, arming::VARIABLE, until};

/// It, running.
pub struct Victim {
    process: Process,
    action: Action,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It reached its point.
    Struck,
    /// It never came to its point.
    Spared,
}

/// Few connections: many of them live at once, and die.
const FRUGAL: [(&str, &str); 4] = [
    ("VENDGATE__STORE__POOL_SIZE", "2"),
    ("VENDGATE__STORE__MONEY_POOL_SIZE", "2"),
    ("VENDGATE__STORE__LANES", "1"),
    ("VENDGATE__ENGINE_THREADS", "1"),
];
/// So that several workers share what is due.
const MODEST: [(&str, &str); 2] =
    [("VENDGATE__WORKER__SLOTS_PER_PROVIDER", "2"), ("VENDGATE__WORKER__IDLE_PAUSE_MS", "100")];

impl Victim {
    /// An API server with this order. Takes as long as a server needs to start; not for an async thread.
    pub fn api_server(town: &StormTown, name: &str, order: Order) -> Self {
        let written = order.to_string();
        let environment: Vec<(&str, &str)> =
            FRUGAL.into_iter().chain([(VARIABLE, written.as_str())]).collect();
        let start = || town.sandbox.another_api_server(&town.programs.api_server, name, &environment);
        Self { process: started(start), action: order.action }
    }

    /// A worker with this order, likewise.
    pub fn retry_worker(town: &StormTown, name: &str, order: Order) -> Self {
        let written = order.to_string();
        let environment: Vec<(&str, &str)> =
            FRUGAL.into_iter().chain(MODEST).chain([(VARIABLE, written.as_str())]).collect();
        let start = || town.sandbox.another_retry_worker(&town.programs.retry_worker, name, &environment);
        Self { process: started(start), action: order.action }
    }

    pub fn url(&self) -> &str {
        self.process.url()
    }

    /// Waits for its end, until `over` says that there is nothing more to wait for.
    pub async fn is_struck(&mut self, mut over: impl FnMut() -> bool) -> End {
        loop {
            let is_over = over();
            if self.stands_at_its_point() {
                return End::Struck;
            }
            if is_over {
                return End::Spared;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Wakes it up, if it stands still.
    pub fn wakes(&self) {
        self.process.signal(Signal::CONT).unwrap();
    }

    /// Wakes it up, if it stands still, and has it end as a server should.
    pub async fn ends(&mut self, patience: Duration) {
        if self.process.has_ended().is_some() {
            return;
        }
        self.wakes();
        self.process.signal(Signal::TERM).unwrap();
        let mut status = None;
        until("a server that slept through its lease wakes up and ends", patience, async || {
            status = self.process.has_ended();
            status.is_some()
        })
        .await;
        assert!(status.is_some_and(|status| status.success()), "{status:?}");
    }

    fn stands_at_its_point(&mut self) -> bool {
        match self.action {
            Action::Kill => self.process.has_ended().is_some_and(is_killed),
            Action::Stop => is_stopped(self.process.id()),
        }
    }
}

/// As its point does it. One that ends in any other way is broken, and was not struck.
fn is_killed(status: ExitStatus) -> bool {
    const KILL: i32 = 9;
    assert_eq!(status.signal(), Some(KILL), "a victim ended before its time: {status:?}");
    true
}

/// A port that was free may be taken by a neighbour who starts at the same time.
fn started(start: impl Fn() -> Result<Process, StartError>) -> Process {
    start().or_else(|_taken| start()).or_else(|_taken| start()).unwrap()
}

/// The system's word for it: `T` behind the name in parentheses.
fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_dies_by_signal_nine_was_struck() {
        assert!(is_killed(ExitStatus::from_raw(9)));
    }

    #[test]
    #[should_panic(expected = "a victim ended before its time")]
    fn who_ends_of_its_own_was_not() {
        is_killed(ExitStatus::from_raw(256));
    }
}
