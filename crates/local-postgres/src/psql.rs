//! SQL through the `psql` that came with the server, so that no driver is needed here.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use crate::LocalPostgresError;

/// How to reach one server as its superuser.
#[derive(Clone)]
pub(crate) struct Psql {
    program: PathBuf,
    port: u16,
    password: String,
}

impl Psql {
    pub(crate) fn new(program: PathBuf, port: u16, password: String) -> Self {
        Self { program, port, password }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The superuser's address of `database`.
    pub(crate) fn url(&self, database: &str) -> String {
        self.url_as("postgres", &self.password, database)
    }

    pub(crate) fn url_as(&self, user: &str, password: &str, database: &str) -> String {
        format!("postgres://{user}:{password}@127.0.0.1:{port}/{database}", port = self.port)
    }

    /// Runs `sql` in `database` and returns the rows as bare text: fields split by `|`, rows by line ends.
    pub(crate) fn run(&self, database: &str, sql: &str) -> Result<String, LocalPostgresError> {
        let mut command = Command::new(&self.program);
        command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        command.args(["--host=127.0.0.1", "--username=postgres", "--no-password"]);
        command.arg(format!("--port={}", self.port)).arg(format!("--dbname={database}"));
        command.arg("--command").arg(sql);
        // Not on the command line, which every user of the machine can read.
        command.env_clear().env("PGPASSWORD", &self.password);
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|source| LocalPostgresError::CannotRun {
            program: self.program.display().to_string(),
            source,
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(LocalPostgresError::ProgramFailed { program: format!("psql: {sql}"), said })
    }
}
