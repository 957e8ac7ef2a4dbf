//! One part as a process of its own: started, spoken to by signals, started again, and never left behind.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use crate::Program;

/// Signals that a test or a person sends.
pub use rustix::process::Signal;

/// On a very busy machine.
const START_PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(10);

/// A part that has said where it can be reached. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Closed when this process ends in any way, which ends the part.
    _lifeline: ChildStdin,
    launch: Launch,
    /// Where each of its doors is, in the order of the launch.
    addresses: Vec<String>,
}

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

/// Why a part of the sandbox does not run.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// It could not be started at all.
    #[error("{name} cannot be started")]
    NotStarted {
        /// Which part.
        name: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It ended before its work was done.
    #[error("{name} ended: {said} (see {})", log.display())]
    Ended {
        /// Which part.
        name: &'static str,
        /// The end of its log.
        said: String,
        /// The log.
        log: PathBuf,
    },
    /// It says nothing.
    #[error("{name} did not start within {} s (see {})", START_PATIENCE.as_secs(), log.display())]
    Silent {
        /// Which part.
        name: &'static str,
        /// The log.
        log: PathBuf,
    },
}

impl Process {
    /// Starts a part, and waits until it has said where all its doors are.
    ///
    /// # Errors
    /// When it cannot be started, ends at once, or stays silent.
    pub(crate) fn start(launch: Launch) -> Result<Self, ProcessError> {
        let name = launch.name;
        let not_started = |source| ProcessError::NotStarted { name, source };
        let command = command(&launch.program, [launch.settings.as_os_str()], &launch.log);
        let spawned = command.and_then(|mut command| command.envs(launch.environment.clone()).spawn());
        let mut child = spawned.map_err(not_started)?;
        let (Some(lifeline), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(not_started(io::Error::from(io::ErrorKind::BrokenPipe)));
        };
        let mut process = Self { child, _lifeline: lifeline, launch, addresses: Vec::new() };
        let said = lines_of(stdout);
        for door in process.launch.doors {
            process.addresses.push(process.waits_for(*door, &said)?);
        }
        Ok(process)
    }

    /// The same part once more, where it was, after this one has ended.
    ///
    /// # Errors
    /// As at its first start; also when this one still holds its doors.
    pub fn start_again(&self) -> Result<Self, ProcessError> {
        Self::start(self.launch.clone())
    }

    /// Which part it is.
    pub const fn name(&self) -> &'static str {
        self.launch.name
    }

    /// Where what it says of itself is written.
    pub fn log(&self) -> &Path {
        &self.launch.log
    }

    /// Where one of its doors is; empty if it has no such door.
    pub fn address(&self, door: Door) -> &str {
        let doors = self.launch.doors.iter().zip(&self.addresses);
        doors.filter(|(its, _)| **its == door).map(|(_, address)| address.as_str()).next().unwrap_or_default()
    }

    /// Where it works: `http://127.0.0.1:4711`.
    pub fn url(&self) -> &str {
        self.address(Door::Http)
    }

    /// Its number with the system.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// When it has ended.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(rustix::process::kill_process(pid, signal)?)
    }

    /// How it ended, if it has.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits until it has ended, so long at most.
    #[expect(
        clippy::disallowed_methods,
        reason = "polls with a deadline, on a thread with nothing else to do"
    )]
    pub fn ends_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let mut waited = Duration::ZERO;
        loop {
            let ended = self.has_ended();
            if ended.is_some() || waited >= patience {
                return ended;
            }
            thread::sleep(POLL);
            waited += POLL;
        }
    }
}

impl Process {
    fn waits_for(&self, door: Door, said: &Receiver<String>) -> Result<String, ProcessError> {
        let Launch { name, log, .. } = &self.launch;
        loop {
            match said.recv_timeout(START_PATIENCE) {
                Ok(line) => {
                    if let Some(address) = door.read(&line) {
                        return Ok(address.to_owned());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(ProcessError::Silent { name, log: log.clone() });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(ended(name, log)),
            }
        }
    }
}

impl Door {
    /// The address in a line that tells of this door.
    fn read(self, line: &str) -> Option<&str> {
        match self {
            Self::Http => Some(line).filter(|line| line.starts_with("http://")),
            Self::Observe => line.strip_prefix("observe "),
            Self::Smtp => line.strip_prefix("smtp "),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended_before = self.child.kill();
        let _reaped_before = self.child.wait();
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
    if status.success() { Ok(()) } else { Err(ended(name, log)) }
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
fn lines_of(stdout: ChildStdout) -> Receiver<String> {
    let (says, hears) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _nobody_listens = says.send(line);
        }
    });
    hears
}

fn ended(name: &'static str, log: &Path) -> ProcessError {
    let text = fs::read_to_string(log).unwrap_or_default();
    let said = text.lines().next_back().unwrap_or("without a word").to_owned();
    ProcessError::Ended { name, said, log: log.to_owned() }
}
