//! Makes the servers of a test environment write a transcript of every run, and replays the transcripts.

use std::{ffi::OsString, fs, io, iter, path::Path};

use sandbox::Program;
use transcript::{ReplayError, Replayed};

/// The environment variable that names the directory.
const VARIABLE: &str = "VENDGATE_TRANSCRIPTS";

/// Makes this process write a transcript, if the environment variable names a directory.
///
/// # Errors
/// When the transcript cannot be written there.
#[expect(
    clippy::disallowed_methods,
    reason = "the directory of a test's transcripts is not a setting of the service"
)]
pub fn kept_as_the_environment_says() -> io::Result<()> {
    match std::env::var(VARIABLE) {
        Ok(directory) => transcript::keep_in(Path::new(&directory)),
        Err(_not_told) => Ok(()),
    }
}

/// The same program, which writes its transcript into this directory.
pub fn keeping(program: &Program, directory: &Path) -> Program {
    let mut variable = OsString::from(VARIABLE);
    variable.push("=");
    variable.push(directory);
    let its_own = iter::once(program.path.clone().into_os_string()).chain(program.leading_arguments.clone());
    Program { path: "/usr/bin/env".into(), leading_arguments: iter::once(variable).chain(its_own).collect() }
}

/// Feeds every recorded input to the protocols in this process and compares their outputs with the recorded ones.
///
/// # Errors
/// At the first output that differs.
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
