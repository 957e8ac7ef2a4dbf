//! How the servers of a town are told to keep a transcript of every run, and how it is replayed.

use std::{ffi::OsString, fs, io, iter, path::Path};

use sandbox::Program;
use transcript::{ReplayError, Replayed};

/// The variable in which the directory stands.
const VARIABLE: &str = "VENDGATE_TRANSCRIPTS";

/// Has this process keep a transcript, if its environment says where.
///
/// # Errors
/// When it cannot be written there.
#[expect(
    clippy::disallowed_methods,
    reason = "where a test keeps its transcripts is no setting of the service"
)]
pub fn kept_as_the_environment_says() -> io::Result<()> {
    match std::env::var(VARIABLE) {
        Ok(directory) => transcript::keep_in(Path::new(&directory)),
        Err(_not_told) => Ok(()),
    }
}

/// The same program, which keeps a transcript in this directory.
pub fn keeping(program: &Program, directory: &Path) -> Program {
    let mut variable = OsString::from(VARIABLE);
    variable.push("=");
    variable.push(directory);
    let its_own = iter::once(program.path.clone().into_os_string()).chain(program.leading_arguments.clone());
    Program { path: "/usr/bin/env".into(), leading_arguments: iter::once(variable).chain(its_own).collect() }
}

/// Tells the protocols of this very process all that was heard, and compares all that was said.
///
/// # Errors
/// At the first word that was said then and not now.
pub fn replay_all(directory: &Path) -> Result<Replayed, ReplayError> {
    let mut all = Replayed::default();
    for file in fs::read_dir(directory).unwrap() {
        let replayed = transcript::replay(&fs::read_to_string(file.unwrap().path()).unwrap())?;
        all.confirms += replayed.confirms;
        all.resolves += replayed.resolves;
        all.commands += replayed.commands;
    }
    Ok(all)
}
