//! How a part is started: its program, its settings, its log, and what it says when it is ready.

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

/// How a part is started, and started again.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// Which part it is, in what is said about it.
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    /// Its settings file.
    pub(crate) settings: PathBuf,
    /// Settings that win over the file.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) log: PathBuf,
    /// What it says when it is ready.
    pub(crate) doors: &'static [Door],
    /// What it does not remember of an earlier life, where somebody would miss it.
    pub(crate) forgets: Option<&'static str>,
}

/// What a part can be reached for: each is a line that it prints when it is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Its own work, over HTTP: `http://127.0.0.1:4711`.
    Http,
    /// Whoever watches it: `observe http://127.0.0.1:4712`.
    Observe,
    /// Whoever brings mail: `smtp 127.0.0.1:4713`.
    Smtp,
}

impl Door {
    /// The address in a line that tells of this door.
    pub(crate) fn read(self, line: &str) -> Option<&str> {
        match self {
            Self::Http => Some(line).filter(|line| line.starts_with("http://")),
            Self::Observe => line.strip_prefix("observe "),
            Self::Smtp => line.strip_prefix("smtp "),
        }
    }
}

impl Launch {
    /// The command that starts it.
    pub(crate) fn command(&self) -> io::Result<Command> {
        let mut command = command(&self.program, [self.settings.as_os_str()], &self.log)?;
        command.envs(self.environment.clone());
        Ok(command)
    }

    /// How long its log is.
    pub(crate) fn log_length(&self) -> u64 {
        fs::metadata(&self.log).map_or(0, |log| log.len())
    }

    /// The last line of its log behind the first `from` bytes, without its own name before it.
    pub(crate) fn last_words(&self, from: u64) -> Option<String> {
        let log = fs::read(&self.log).ok()?;
        let said = usize::try_from(from).ok().and_then(|from| log.get(from..))?;
        let said = String::from_utf8_lossy(said);
        let line = said.lines().rfind(|line| !line.trim().is_empty())?.trim();
        Some(line.strip_prefix(&format!("{}: ", self.name)).unwrap_or(line).to_owned())
    }
}

/// Runs a program to its end.
pub(crate) fn run_to_end(
    name: &'static str,
    program: &Program,
    arguments: [&OsStr; 2],
    log: &Path,
) -> Result<(), ProcessError> {
    let not_started = |source| ProcessError::NotStarted { name, source };
    let mut child =
        command(program, arguments, log).and_then(|mut command| command.spawn()).map_err(not_started)?;
    let lifeline = child.stdin.take();
    // What it prints is for people.
    let _printed = child.stdout.take().map(lines_of).into_iter().flatten().count();
    let status = child.wait().map_err(not_started)?;
    drop(lifeline);
    if status.success() {
        return Ok(());
    }
    let text = fs::read_to_string(log).unwrap_or_default();
    let said = match text.lines().next_back() {
        Some(words) => format!("{status}, after it said: {words}"),
        None => format!("{status}, without a word"),
    };
    Err(ProcessError::Ended { name, said, log: log.to_owned() })
}

/// In a process group of its own, so that a Ctrl-C meant for the sandbox does not stop its parts out of order; and
/// without this process's environment, whose settings are not meant for them.
fn command<const N: usize>(program: &Program, arguments: [&OsStr; N], log: &Path) -> io::Result<Command> {
    let mut command = Command::new(&program.path);
    command.args(&program.leading_arguments).args(arguments);
    command.env_clear().process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(File::options().create(true).append(true).open(log)?);
    Ok(command)
}

/// The lines that a process prints. They are read to the end even if nobody listens, so that it never waits.
pub(crate) fn lines_of(stdout: ChildStdout) -> Receiver<String> {
    let (says, hears) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _nobody_listens = says.send(line);
        }
    });
    hears
}
