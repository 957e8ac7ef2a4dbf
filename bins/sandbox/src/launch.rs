//! How a part is started: its program, its settings, its log, and the lines that report its addresses.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

use crate::{Program, process::ProcessError};

/// How a part is started and restarted.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The name of the part in messages.
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    /// Its settings file.
    pub(crate) settings: PathBuf,
    /// Settings that override the file.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) log: PathBuf,
    /// The listeners whose addresses it prints when it is ready.
    pub(crate) listeners: &'static [Listener],
    /// The relevant state that it loses in a restart, if any.
    pub(crate) forgets: Option<&'static str>,
}

/// The listeners of a part. A part prints one line for each when it is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    /// Its main HTTP endpoint: `http://127.0.0.1:4711`.
    Http,
    /// The monitoring listener: `observe http://127.0.0.1:4712`.
    Observe,
    /// The mail server: `smtp 127.0.0.1:4713`.
    Smtp,
}

impl Listener {
    /// The address in a line that reports this listener.
    pub(crate) fn read(self, line: &str) -> Option<&str> {
        match self {
            Self::Http => Some(line).filter(|line| line.starts_with("http://")),
            Self::Observe => line.strip_prefix("observe "),
            Self::Smtp => line.strip_prefix("smtp "),
        }
    }
}

impl Launch {
    /// The command that starts the part.
    pub(crate) fn command(&self) -> io::Result<Command> {
        let mut command = command(&self.program, [self.settings.as_os_str()], &self.log)?;
        command.envs(self.environment.clone());
        Ok(command)
    }

    /// The length of its log in bytes.
    pub(crate) fn log_length(&self) -> u64 {
        fs::metadata(&self.log).map_or(0, |log| log.len())
    }

    /// The last line of its log after the first `from` bytes, without the part's name in front.
    pub(crate) fn last_words(&self, from: u64) -> Option<String> {
        let log = fs::read(&self.log).ok()?;
        let said = usize::try_from(from).ok().and_then(|from| log.get(from..))?;
        let said = String::from_utf8_lossy(said);
        let line = said.lines().rfind(|line| !line.trim().is_empty())?.trim();
        Some(line.strip_prefix(&format!("{}: ", self.name)).unwrap_or(line).to_owned())
    }
}

/// Runs a program until it exits.
pub(crate) fn run_to_end(
    name: &'static str,
    program: &Program,
    arguments: [&OsStr; 2],
    log: &Path,
) -> Result<(), ProcessError> {
    let not_started = |source| ProcessError::NotStarted { name, source };
    let mut child =
        command(program, arguments, log).and_then(|mut command| command.spawn()).map_err(not_started)?;
    let stdin = child.stdin.take();
    // Its output is not needed here.
    let _printed = child.stdout.take().map(lines_of).into_iter().flatten().count();
    let status = child.wait().map_err(not_started)?;
    drop(stdin);
    if status.success() {
        return Ok(());
    }
    let text = fs::read_to_string(log).unwrap_or_default();
    let said = match text.lines().next_back() {
        Some(words) => format!("{status}, last output: {words}"),
        None => format!("{status}, no output"),
    };
    Err(ProcessError::Ended { name, said, log: log.to_owned() })
}

/// The part gets its own process group, so that a Ctrl-C for the sandbox does not stop the parts in the wrong order. It
/// does not inherit this process's environment, whose settings are not for the parts.
fn command<const N: usize>(program: &Program, arguments: [&OsStr; N], log: &Path) -> io::Result<Command> {
    let mut command = Command::new(&program.path);
    command.args(&program.leading_arguments).args(arguments);
    command.env_clear().process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(File::options().create(true).append(true).open(log)?);
    Ok(command)
}

/// The lines that a process prints. They are read even if the receiver is gone, so that the process never blocks.
pub(crate) fn lines_of(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _sent = sender.send(line);
        }
    });
    receiver
}
