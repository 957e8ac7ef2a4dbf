//! A running sandbox.

use std::{fmt, fs::File, io, path::PathBuf, process::ExitStatus, time::Duration};

use clock::{Clock, Monotonic, SystemClock};
use local_postgres::{LocalDatabase, LocalPostgres};
use tokio::runtime::Runtime;

use crate::{
    Office, Process, Program, Report, SandboxInfo, Signal, StartError, controls::Controls,
    process::Condition, settings::vend_log, start::Servers, supervision::Watch,
};

/// Longer than the longest transaction of the engine.
const DRAIN_PATIENCE: Duration = Duration::from_secs(160);
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// The whole system, started and seeded. Its fields are dropped in this order, so no part loses what it depends on.
#[derive(Debug)]
pub struct Sandbox {
    pub(crate) api_server: Process,
    pub(crate) retry_worker: Option<Process>,
    pub(crate) utility_sim: Process,
    pub(crate) console: Option<Process>,
    /// Dropped before the office and its runtime, which it uses.
    pub(crate) controls: Controls,
    pub(crate) office: Office,
    pub(crate) info: SandboxInfo,
    pub(crate) servers: Servers,
    pub(crate) directory: PathBuf,
    /// The directory is this sandbox's while the file is open.
    pub(crate) _taken: File,
    /// The runtime of the office's database connections.
    pub(crate) engine: Runtime,
    pub(crate) database: LocalDatabase,
    /// `None` if the database is in a cluster.
    pub(crate) postgres: Option<LocalPostgres>,
    pub(crate) watches: Watches,
}

/// The supervision state of each part.
#[derive(Debug)]
pub(crate) struct Watches {
    postgres: Watch,
    utility_sim: Watch,
    api_server: Watch,
    retry_worker: Watch,
    console: Watch,
}

impl Watches {
    /// The state of parts that are all running.
    pub(crate) fn begin(now: Monotonic) -> Self {
        let [postgres, utility_sim, api_server, retry_worker, console] = [(); 5].map(|()| Watch::begin(now));
        Self { postgres, utility_sim, api_server, retry_worker, console }
    }
}

/// A part that ended without a request to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The name of the part.
    pub part: &'static str,
    /// Its exit status.
    pub status: ExitStatus,
    /// The path of its log.
    pub log: PathBuf,
}

impl Sandbox {
    /// The addresses and credentials of the sandbox: the content of `sandbox.json`.
    pub const fn info(&self) -> &SandboxInfo {
        &self.info
    }

    /// Writes `sandbox.json` into the sandbox's directory, and returns its path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_info(&self) -> io::Result<PathBuf> {
        let path = self.directory.join("sandbox.json");
        self.info.write(&path)?;
        Ok(path)
    }

    /// The API server's process.
    pub const fn api_server(&self) -> &Process {
        &self.api_server
    }

    /// The worker's process, if the options include one.
    pub const fn retry_worker(&self) -> Option<&Process> {
        self.retry_worker.as_ref()
    }

    /// The log of all vends of the simulated utility: one JSON line each, written before it answers.
    pub fn vend_log(&self) -> PathBuf {
        vend_log(&self.directory)
    }

    /// The operator's functions.
    pub const fn office(&self) -> &Office {
        &self.office
    }

    /// The database, for inspection.
    pub const fn database(&self) -> &LocalDatabase {
        &self.database
    }

    /// The private server of the database, unless the database is in a cluster.
    pub const fn postgres(&self) -> Option<&LocalPostgres> {
        self.postgres.as_ref()
    }

    /// Starts another API server on a free port, with the same database and simulator. `environment`
    /// (`VENDGATE__WEB__…`) overrides the settings that all servers here share.
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

    /// Starts another worker in the same way.
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

    /// A part that has ended, if there is one.
    pub fn ended(&mut self) -> Option<Ended> {
        let servers = [&mut self.utility_sim, &mut self.api_server].into_iter();
        let mut parts = servers.chain(&mut self.retry_worker).chain(&mut self.console);
        parts.find_map(Ended::look_at)
    }

    /// Supervises all parts, as a service manager does in production. An ended part is restarted at the same addresses,
    /// after a pause that grows with each failure. Call it repeatedly: it never waits. Returns the changes since the
    /// last call.
    pub fn tend(&mut self) -> Vec<Report> {
        let now = SystemClock.monotonic();
        let Self { watches, postgres, utility_sim, api_server, retry_worker, console, .. } = self;
        let mut reports = vec![
            postgres.as_mut().and_then(|postgres| watches.postgres.tend(postgres, now)),
            watches.utility_sim.tend(utility_sim, now),
            watches.api_server.tend(api_server, now),
        ];
        if let Some(retry_worker) = retry_worker {
            reports.push(watches.retry_worker.tend(retry_worker, now));
        }
        if let Some(console) = console {
            reports.push(watches.console.tend(console, now));
        }
        reports.into_iter().flatten().collect()
    }

    /// Stops everything gracefully: purchases under way are finished first. `hurry` is called repeatedly meanwhile.
    /// When it returns true, everything stops at once.
    pub fn stop(self, hurry: impl Fn() -> bool) {
        let Self {
            api_server,
            retry_worker,
            utility_sim,
            console,
            controls,
            office,
            engine,
            postgres,
            _taken,
            ..
        } = self;
        drop(controls);
        if let Some(console) = console {
            stop_process(console, STOP_PATIENCE, &hurry);
        }
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
    // A part that is not ready has nothing under way. Dropping it kills it.
    if process.condition() != Condition::Up {
        return;
    }
    let _ended_before = process.signal(Signal::TERM);
    let mut waited = Duration::ZERO;
    while process.ends_within(STEP).is_none() && waited < patience && !hurry() {
        waited += STEP;
    }
}
