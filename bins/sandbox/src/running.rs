//! A sandbox that runs.

use std::{fmt, io, path::PathBuf, process::ExitStatus, time::Duration};

use clock::{Clock, Monotonic, SystemClock};
use local_postgres::{Database, LocalPostgres};
use tokio::runtime::Runtime;

use crate::{
    Facts, Office, Process, Program, Report, Signal, StartError, process::Condition, settings::vend_log,
    start::Servers, supervision::Watch,
};

/// Longer than anything on the engine may take.
const DRAIN_PATIENCE: Duration = Duration::from_secs(160);
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// The whole system, up and seeded. Its parts go in the order in which they stand here: nobody loses what it needs.
#[derive(Debug)]
pub struct Sandbox {
    pub(crate) api_server: Process,
    pub(crate) retry_worker: Option<Process>,
    pub(crate) utility_sim: Process,
    pub(crate) office: Office,
    pub(crate) facts: Facts,
    pub(crate) servers: Servers,
    pub(crate) directory: PathBuf,
    /// Where the office's connections live.
    pub(crate) engine: Runtime,
    pub(crate) database: Database,
    pub(crate) postgres: LocalPostgres,
    pub(crate) watches: Watches,
}

/// What the supervision knows about each part.
#[derive(Debug)]
pub(crate) struct Watches {
    postgres: Watch,
    utility_sim: Watch,
    api_server: Watch,
    retry_worker: Watch,
}

impl Watches {
    /// Of parts that are all up.
    pub(crate) fn begin(now: Monotonic) -> Self {
        let [postgres, utility_sim, api_server, retry_worker] = [(); 4].map(|()| Watch::begin(now));
        Self { postgres, utility_sim, api_server, retry_worker }
    }
}

/// A part that ended without being told to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which part.
    pub part: &'static str,
    /// How.
    pub status: ExitStatus,
    /// Where its last words are.
    pub log: PathBuf,
}

impl Sandbox {
    /// Where everything is, and how to get in: what `sandbox.json` says.
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Writes `sandbox.json` into the sandbox's directory, for whoever waits for it, and says where it lies.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_facts(&self) -> io::Result<PathBuf> {
        let path = self.directory.join("sandbox.json");
        self.facts.write(&path)?;
        Ok(path)
    }

    /// The API server's process.
    pub const fn api_server(&self) -> &Process {
        &self.api_server
    }

    /// The worker's process, where the options asked for one.
    pub const fn retry_worker(&self) -> Option<&Process> {
        self.retry_worker.as_ref()
    }

    /// Every vend that the simulated utility decided, one JSON line each, written before it answers.
    pub fn vend_log(&self) -> PathBuf {
        vend_log(&self.directory)
    }

    /// The operator's desk.
    pub const fn office(&self) -> &Office {
        &self.office
    }

    /// The database, to look into.
    pub const fn database(&self) -> &Database {
        &self.database
    }

    /// The server of the database.
    pub const fn postgres(&self) -> &LocalPostgres {
        &self.postgres
    }

    /// One more API server beside the first, on a free port, over the same database and simulator. What
    /// `environment` sets (`VENDGATE__WEB__…`) wins over the settings that all servers here share.
    ///
    /// # Errors
    /// When it does not start.
    pub fn another_api_server(
        &self,
        program: &Program,
        name: &str,
        environment: &[(&str, &str)],
    ) -> Result<Process, StartError> {
        let port = crate::start::free_port(0)?;
        self.servers.api_server(program, name, port, environment)
    }

    /// One more worker, likewise.
    ///
    /// # Errors
    /// When it does not start.
    pub fn another_retry_worker(
        &self,
        program: &Program,
        name: &str,
        environment: &[(&str, &str)],
    ) -> Result<Process, StartError> {
        self.servers.retry_worker(program, name, environment)
    }

    /// A part that has ended, if one has.
    pub fn ended(&mut self) -> Option<Ended> {
        let mut parts =
            [&mut self.utility_sim, &mut self.api_server].into_iter().chain(&mut self.retry_worker);
        parts.find_map(Ended::look_at)
    }

    /// Looks after all parts, as whoever supervises them in production does: what has ended, in whatever way, is started
    /// again where it was, after a pause that grows while that does not help. To be called again and again; it never
    /// waits. Says what has changed since the last time.
    pub fn tend(&mut self) -> Vec<Report> {
        let now = SystemClock.monotonic();
        let Self { watches, postgres, utility_sim, api_server, retry_worker, .. } = self;
        let mut reports = vec![
            watches.postgres.tend(postgres, now),
            watches.utility_sim.tend(utility_sim, now),
            watches.api_server.tend(api_server, now),
        ];
        if let Some(retry_worker) = retry_worker {
            reports.push(watches.retry_worker.tend(retry_worker, now));
        }
        reports.into_iter().flatten().collect()
    }

    /// Stops everything in good order: purchases under way are brought to their end first. `hurry` is asked again
    /// and again meanwhile; when it says yes, they are not.
    pub fn stop(self, hurry: impl Fn() -> bool) {
        let Self { api_server, retry_worker, utility_sim, office, engine, postgres, .. } = self;
        stop_process(api_server, DRAIN_PATIENCE, &hurry);
        if let Some(retry_worker) = retry_worker {
            stop_process(retry_worker, DRAIN_PATIENCE, &hurry);
        }
        stop_process(utility_sim, STOP_PATIENCE, &hurry);
        drop(office);
        engine.shutdown_timeout(Duration::from_secs(1));
        drop(postgres);
    }
}

impl Ended {
    fn look_at(process: &mut Process) -> Option<Self> {
        let status = process.has_ended()?;
        Some(Self { part: process.name(), status, log: process.log().to_owned() })
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, status, log } = self;
        write!(out, "{part} has ended ({status}; see {})", log.display())
    }
}

fn stop_process(mut process: Process, patience: Duration, hurry: &impl Fn() -> bool) {
    const STEP: Duration = Duration::from_millis(100);
    // Who is not up has nothing under way; going, it is killed.
    if process.condition() != Condition::Up {
        return;
    }
    let _ended_before = process.signal(Signal::TERM);
    let mut waited = Duration::ZERO;
    while process.ends_within(STEP).is_none() && waited < patience && !hurry() {
        waited += STEP;
    }
}
