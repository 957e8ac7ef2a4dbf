//! The programs that run the parts of the system.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

/// A program and the arguments that select the part.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// The arguments before the part's own arguments.
    pub leading_arguments: Vec<OsString>,
}

/// The programs that a sandbox starts. Each must take the path of its settings file as its first argument, and must end
/// when its standard input ends. See [`parts`](crate::parts).
#[derive(Clone, Debug)]
pub struct Programs {
    /// `api-server`
    pub api_server: Program,
    /// `retry-worker`
    pub retry_worker: Program,
    /// `utility-sim-server`
    pub utility_sim: Program,
    /// `console`
    pub console: Program,
}

impl Program {
    /// An executable for one part only.
    pub fn at(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned(), leading_arguments: Vec::new() }
    }
}

impl Programs {
    /// This executable, which runs the part that its first argument names: `cargo run` builds no other executable.
    pub fn of_this_executable() -> io::Result<Self> {
        Ok(Self::of(&std::env::current_exe()?))
    }

    /// An executable that runs the part that its first argument names, like `sandbox`.
    pub fn of(path: &Path) -> Self {
        let part = |name: &str| Program { path: path.to_owned(), leading_arguments: vec![name.into()] };
        Self {
            api_server: part(crate::parts::API_SERVER),
            retry_worker: part(crate::parts::RETRY_WORKER),
            utility_sim: part(crate::parts::UTILITY_SIM),
            console: part(crate::parts::CONSOLE),
        }
    }
}
