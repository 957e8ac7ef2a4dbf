//! API servers over the sandbox's database and simulator: the first one, and as many more as somebody wants.

use std::path::Path;

use super::{free_port, write_settings};
use crate::{Pace, Process, Program, StartError, settings::ApiServerSettings};

/// What all API servers of one sandbox share.
pub(crate) struct RunningServer {
    pub(crate) database_url: String,
    pub(crate) simulator_url: String,
    pub(crate) sealing_key: String,
    pub(crate) refresh_key: String,
    pub(crate) pace: Pace,
}

impl RunningServer {
    /// Starts one. Its settings and its log bear its name; what `environment` sets wins over them.
    pub(crate) fn start(
        &self,
        program: &Program,
        directory: &Path,
        name: &str,
        port: u16,
        environment: &[(&str, &str)],
    ) -> Result<Process, StartError> {
        let settings = ApiServerSettings {
            port,
            database_url: &self.database_url,
            simulator_url: &self.simulator_url,
            sealing_key: &self.sealing_key,
            refresh_key: &self.refresh_key,
            pace: self.pace,
        };
        let file = directory.join(format!("{name}.toml"));
        write_settings(&file, &settings.to_toml())?;
        let log = directory.join(format!("{name}.log"));
        Ok(Process::start("api-server", program, &file, environment, &log)?)
    }

    /// Starts one more, on a free port.
    pub(crate) fn another(
        &self,
        program: &Program,
        directory: &Path,
        name: &str,
        environment: &[(&str, &str)],
    ) -> Result<Process, StartError> {
        self.start(program, directory, name, free_port(0)?, environment)
    }
}

impl std::fmt::Debug for RunningServer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RunningServer").field("pace", &self.pace).finish_non_exhaustive()
    }
}
