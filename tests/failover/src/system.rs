//! Runs the machine's own programs.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::Failure;

/// Runs a program to its end.
///
/// # Errors
/// Its error output, if it fails.
pub fn run(program: &str, arguments: &[&str]) -> Result<(), Failure> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {}: {}", arguments.join(" "), said.trim()).into())
}

/// Starts a program that goes on, in a session of its own, with its output in a file.
///
/// # Errors
/// When it cannot be started.
pub fn start(command: &mut Command, log: &Path) -> Result<Child, Failure> {
    let output = open(log).map_err(|error| format!("{}: {error}", log.display()))?;
    let errors = output.try_clone()?;
    let child = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
    child.map_err(|error| format!("{}: {error}", command.get_program().display()).into())
}

fn open(log: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(log)
}
