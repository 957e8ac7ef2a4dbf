//! Starts API servers and workers on the sandbox's database and simulator: the first ones, and any number of additional
//! ones.

use std::path::PathBuf;

use identity::Environment;

use super::{free_port, write_settings};
use crate::{
    Listener, Pace, Process, Program, StartError,
    launch::Launch,
    settings::{ApiServerSettings, Shared, WorkerSettings},
};

/// The common data of all servers of one sandbox.
pub(crate) struct Servers {
    pub(crate) api_database_url: String,
    pub(crate) worker_database_url: String,
    pub(crate) simulator_url: String,
    pub(crate) smtp_address: String,
    pub(crate) sealing_key: String,
    pub(crate) refresh_key: String,
    pub(crate) certificate_key: Option<String>,
    /// The environment of the API.
    pub(crate) environment: Environment,
    pub(crate) pace: Pace,
    /// Whether commits must wait for a standby.
    pub(crate) requires_standby: bool,
    pub(crate) webhooks_stay_here: bool,
    /// The directory of their settings and logs.
    pub(crate) directory: PathBuf,
}

impl Servers {
    /// Starts an API server on a port. Its settings file and its log have its name. `environment` overrides the
    /// settings.
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
            environment: self.environment.code(),
            refresh_key: &self.refresh_key,
            certificate_key: self.certificate_key.as_deref(),
        };
        let listeners = &[Listener::Http, Listener::Observe];
        self.start(Kind { part: "api-server", name, listeners }, program, &settings.to_toml(), environment)
    }

    /// Starts a worker in the same way.
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
        let listeners = &[Listener::Observe];
        self.start(Kind { part: "retry-worker", name, listeners }, program, &settings.to_toml(), environment)
    }

    fn shared<'a>(&'a self, database_url: &'a str, observe_port: u16) -> Shared<'a> {
        Shared {
            database_url,
            simulator_url: &self.simulator_url,
            sealing_key: &self.sealing_key,
            pace: self.pace,
            observe_port,
            requires_standby: self.requires_standby,
            webhooks_stay_here: self.webhooks_stay_here,
        }
    }

    fn start(
        &self,
        kind: Kind<'_>,
        program: &Program,
        settings: &str,
        environment: &[(&str, &str)],
    ) -> Result<Process, StartError> {
        let Kind { part, name, listeners } = kind;
        let file = self.directory.join(format!("{name}.toml"));
        write_settings(&file, settings)?;
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let launch = Launch {
            name: part,
            program: program.clone(),
            settings: file,
            environment: environment.iter().map(own).collect(),
            log: self.directory.join(format!("{name}.log")),
            listeners,
            forgets: None,
        };
        Ok(Process::start(launch)?)
    }
}

/// The kind, the name and the listeners of a server.
#[derive(Clone, Copy)]
struct Kind<'a> {
    part: &'static str,
    name: &'a str,
    listeners: &'static [Listener],
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Servers").field("pace", &self.pace).finish_non_exhaustive()
    }
}
