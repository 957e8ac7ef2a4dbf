//! One server as a process of its own: started, spoken to by signals, and never left behind.

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

/// A server that has said where it listens. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Closed when this process ends in any way, which ends the server.
    _lifeline: ChildStdin,
    url: String,
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
    /// Starts a server with a settings file, and settings in its environment that win over it; waits until it says
    /// where it listens: its first line.
    ///
    /// # Errors
    /// When it cannot be started, ends at once, or stays silent.
    pub fn start(
        name: &'static str,
        program: &Program,
        settings: &Path,
        environment: &[(&str, &str)],
        log: &Path,
    ) -> Result<Self, ProcessError> {
        let not_started = |source| ProcessError::NotStarted { name, source };
        let command = command(program, [settings.as_os_str()], log);
        let spawned = command.and_then(|mut command| command.envs(environment.iter().copied()).spawn());
        let mut child = spawned.map_err(not_started)?;
        let (Some(lifeline), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(not_started(io::Error::from(io::ErrorKind::BrokenPipe)));
        };
        let mut process = Self { child, _lifeline: lifeline, url: String::new() };
        match lines_of(stdout).recv_timeout(START_PATIENCE) {
            Ok(url) => {
                process.url = url;
                Ok(process)
            }
            Err(RecvTimeoutError::Timeout) => Err(ProcessError::Silent { name, log: log.to_owned() }),
            Err(RecvTimeoutError::Disconnected) => Err(ended(name, log)),
        }
    }

    /// Where it listens: `http://127.0.0.1:4711`.
    pub fn url(&self) -> &str {
        &self.url
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
