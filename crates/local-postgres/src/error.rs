//! The errors of a private Postgres.

use std::{error::Error, io, path::PathBuf};

use thiserror::Error;

/// What can go wrong with a private Postgres.
#[derive(Debug, Error)]
pub enum LocalPostgresError {
    /// No complete installation was found, and none could be installed.
    #[error(
        "no PostgreSQL {oldest} or newer was found: install its server package \
         (Debian, Ubuntu: apt-get install postgresql; Fedora: dnf install postgresql-server; \
         macOS: brew install postgresql)"
    )]
    NotInstalled {
        /// The oldest supported major version.
        oldest: u32,
    },
    /// A package is missing, and `VENDGATE_INSTALL=never` forbids to install it.
    #[error(
        "the Debian package {package} is missing, and VENDGATE_INSTALL=never forbids to install it: \
             run `apt-get install {package}`, or unset VENDGATE_INSTALL"
    )]
    InstallForbidden {
        /// The package.
        package: String,
    },
    /// A program of the system could not be started at all.
    #[error("cannot run {program}")]
    CannotRun {
        /// The program.
        program: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A program of the system ran and failed.
    #[error("{program} failed: {said}")]
    ProgramFailed {
        /// The program, or the statement it was given.
        program: String,
        /// Its error output.
        said: String,
    },
    /// The server's directory could not be prepared.
    #[error("cannot prepare {}", path.display())]
    Directory {
        /// The directory or file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Root may not run Postgres, and no other user can run it.
    #[error("PostgreSQL refuses to run as root, and there is neither a user `postgres` nor `nobody`")]
    NoUserToRunAs,
    /// The system did not provide a port, randomness, a cluster or another start of the server.
    #[error("cannot get {what} from the system")]
    System {
        /// What was requested.
        what: &'static str,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The server ended while starting, or took too long.
    #[error("PostgreSQL did not start: {log}")]
    DidNotStart {
        /// The end of its log.
        log: String,
    },
    /// The shell that runs the server was killed, and the server has ended.
    #[error("PostgreSQL cannot be started again: the shell that ran it was killed too")]
    WatcherKilled,
    /// A database name that would need quoting.
    #[error("{name:?} is no database name: 1 to 50 lower-case letters, digits and underscores")]
    BadName {
        /// The name.
        name: String,
    },
    /// The caller's preparation of a template database failed.
    #[error("the template database {template} could not be prepared")]
    Template {
        /// The template.
        template: String,
        /// The error of the preparation.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}
