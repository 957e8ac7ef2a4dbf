//! A sandbox that runs.

use std::{io, path::PathBuf, time::Duration};

use local_postgres::{Database, LocalPostgres};
use tokio::runtime::Runtime;

use crate::{Facts, Office, Process, Program, Signal, StartError, settings::vend_log, start::RunningServer};

/// Longer than anything on the engine may take.
const DRAIN_PATIENCE: Duration = Duration::from_secs(160);
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// The whole system, up and seeded. Its parts go in the order in which they stand here: nobody loses what it needs.
#[derive(Debug)]
pub struct Sandbox {
    pub(crate) api_server: Process,
    pub(crate) utility_sim: Process,
    pub(crate) office: Office,
    pub(crate) facts: Facts,
    pub(crate) server: RunningServer,
    pub(crate) directory: PathBuf,
    /// Where the office's connections live.
    pub(crate) engine: Runtime,
    pub(crate) database: Database,
    pub(crate) postgres: LocalPostgres,
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
        self.server.another(program, &self.directory, name, environment)
    }

    /// Stops everything in good order: purchases under way are brought to their end first. `hurry` is asked again
    /// and again meanwhile; when it says yes, they are not.
    pub fn stop(self, hurry: impl Fn() -> bool) {
        let Self { api_server, utility_sim, office, engine, postgres, .. } = self;
        stop_process(api_server, DRAIN_PATIENCE, &hurry);
        stop_process(utility_sim, STOP_PATIENCE, &hurry);
        drop(office);
        engine.shutdown_timeout(Duration::from_secs(1));
        drop(postgres);
    }
}

fn stop_process(mut process: Process, patience: Duration, hurry: &impl Fn() -> bool) {
    const STEP: Duration = Duration::from_millis(100);
    let _ended_before = process.signal(Signal::TERM);
    let mut waited = Duration::ZERO;
    while process.ends_within(STEP).is_none() && waited < patience && !hurry() {
        waited += STEP;
    }
}
