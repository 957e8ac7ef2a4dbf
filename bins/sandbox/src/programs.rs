//! What to run as the parts of the system.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

/// One program, with the arguments that make it the part it is.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// What comes before its own arguments.
    pub leading_arguments: Vec<OsString>,
}

/// The programs that a sandbox starts. Each must take its first argument as the name of its settings file and
/// end when its standard input does; see [`parts`](crate::parts).
#[derive(Clone, Debug)]
pub struct Programs {
    /// `api-server`
    pub api_server: Program,
    /// `retry-worker`
    pub retry_worker: Program,
    /// `utility-sim-server`
    pub utility_sim: Program,
}

impl Program {
    /// An executable that is one part and nothing else.
    pub fn at(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned(), leading_arguments: Vec::new() }
    }
}

impl Programs {
    /// This very executable, which plays each part when it is called by the part's name: `cargo run` builds no
    /// other.
    pub fn of_this_executable() -> io::Result<Self> {
        let path = std::env::current_exe()?;
        let part = |name: &str| Program { path: path.clone(), leading_arguments: vec![name.into()] };
        Ok(Self {
            api_server: part(crate::parts::API_SERVER),
            retry_worker: part(crate::parts::RETRY_WORKER),
            utility_sim: part(crate::parts::UTILITY_SIM),
        })
    }
}
