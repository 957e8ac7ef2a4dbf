//! API servers and workers over the sandbox's database and simulator: the first ones, and as many more as somebody
//! wants.

use std::path::PathBuf;

use super::{free_port, write_settings};
use crate::{
    Door, Pace, Process, Program, StartError,
    launch::Launch,
    settings::{ApiServerSettings, Shared, WorkerSettings},
};

/// What all servers of one sandbox share.
pub(crate) struct Servers {
    pub(crate) api_database_url: String,
    pub(crate) worker_database_url: String,
    pub(crate) simulator_url: String,
    pub(crate) smtp_address: String,
    pub(crate) sealing_key: String,
    pub(crate) refresh_key: String,
    pub(crate) pace: Pace,
    /// Where their settings and logs lie.
    pub(crate) directory: PathBuf,
}

impl Servers {
    /// Starts an API server on a port. Its settings and its log bear its name; what `environment` sets wins over
    /// them.
    pub(crate) fn api_server(
        &self,
        program: &Program,
        name: &str,
        port: u16,
        environment: &[(&str, &str)],
    ) -> Result<Process, StartError> {
        let settings = ApiServerSettings {
            shared: self.shared(&self.api_database_url, free_port(0)?),
            port,
            refresh_key: &self.refresh_key,
        };
        let doors = &[Door::Http, Door::Observe];
        self.start(Which { part: "api-server", name, doors }, program, &settings.to_toml(), environment)
    }

    /// Starts a worker, likewise.
    pub(crate) fn retry_worker(
        &self,
        program: &Program,
        name: &str,
        environment: &[(&str, &str)],
    ) -> Result<Process, StartError> {
        let settings = WorkerSettings {
            shared: self.shared(&self.worker_database_url, free_port(0)?),
            smtp_address: &self.smtp_address,
        };
        let doors = &[Door::Observe];
        self.start(Which { part: "retry-worker", name, doors }, program, &settings.to_toml(), environment)
    }

    fn shared<'a>(&'a self, database_url: &'a str, observe_port: u16) -> Shared<'a> {
        Shared {
            database_url,
            simulator_url: &self.simulator_url,
            sealing_key: &self.sealing_key,
            pace: self.pace,
            observe_port,
        }
    }

    fn start(
        &self,
        which: Which<'_>,
        program: &Program,
        settings: &str,
        environment: &[(&str, &str)],
    ) -> Result<Process, StartError> {
        let Which { part, name, doors } = which;
        let file = self.directory.join(format!("{name}.toml"));
        write_settings(&file, settings)?;
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let launch = Launch {
            name: part,
            program: program.clone(),
            settings: file,
            environment: environment.iter().map(own).collect(),
            log: self.directory.join(format!("{name}.log")),
            doors,
            forgets: None,
        };
        Ok(Process::start(launch)?)
    }
}

/// Which of the servers is meant.
#[derive(Clone, Copy)]
struct Which<'a> {
    part: &'static str,
    name: &'a str,
    doors: &'static [Door],
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Servers").field("pace", &self.pace).finish_non_exhaustive()
    }
}
