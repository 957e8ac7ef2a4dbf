//! One part as a separate process: started, controlled by signals, restarted, and never left running.

use std::{
    io,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ExitStatus},
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use crate::{
    Program,
    launch::{Launch, Listener, lines_of},
};

/// Signals for tests and for the command.
pub use rustix::process::Signal;

/// Long enough for a very busy machine.
pub(crate) const START_PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(10);

/// A part that was started. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Known after its end was observed.
    ended: Option<ExitStatus>,
    /// Closed when this process ends in any way, which ends the part.
    _lifeline: ChildStdin,
    /// A mutex only makes the process shareable between threads.
    output: Mutex<Receiver<String>>,
    launch: Launch,
    /// The length of the log when the process started.
    log_began_at: u64,
    /// The addresses of its listeners, in the order of the launch. Incomplete during the start.
    addresses: Vec<String>,
}

/// The state of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// It has not reported all its addresses yet.
    Starting,
    /// It is ready.
    Up,
    /// It has ended. The text output why, as far as is known.
    Ended(String),
}

/// Why a part of the sandbox is not running.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// It could not be started.
    #[error("{name} cannot be started")]
    NotStarted {
        /// The name of the part.
        name: &'static str,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// It ended before its work was done.
    #[error("{name} ended: {said} (see {})", log.display())]
    Ended {
        /// The name of the part.
        name: &'static str,
        /// Its exit status and the last line of its log.
        said: String,
        /// The log.
        log: PathBuf,
    },
    /// It did not report its addresses.
    #[error("{name} did not start within {} s (see {})", START_PATIENCE.as_secs(), log.display())]
    Silent {
        /// The name of the part.
        name: &'static str,
        /// The log.
        log: PathBuf,
    },
}

impl Process {
    /// Starts a part, and waits until it has reported all its addresses.
    ///
    /// # Errors
    /// When it cannot be started, ends at once, or does not report its addresses in time.
    pub(crate) fn start(launch: Launch) -> Result<Self, ProcessError> {
        let mut process = Self::begin(launch)?;
        while !process.is_up() {
            match process.output().recv_timeout(START_PATIENCE) {
                Ok(line) => process.read_line(&line),
                Err(RecvTimeoutError::Timeout) => {
                    let (name, log) = (process.launch.name, process.launch.log.clone());
                    return Err(ProcessError::Silent { name, log });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(process.failed()),
            }
        }
        Ok(process)
    }

    /// Starts a part without waiting.
    ///
    /// # Errors
    /// When it cannot be started.
    fn begin(launch: Launch) -> Result<Self, ProcessError> {
        let name = launch.name;
        let not_started = |source| ProcessError::NotStarted { name, source };
        let log_began_at = launch.log_length();
        let mut child = launch.command().and_then(|mut command| command.spawn()).map_err(not_started)?;
        let (Some(lifeline), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(not_started(io::Error::from(io::ErrorKind::BrokenPipe)));
        };
        let (output, addresses) = (Mutex::new(lines_of(stdout)), Vec::new());
        Ok(Self { child, ended: None, _lifeline: lifeline, output, launch, log_began_at, addresses })
    }

    /// Starts the same part again, at the same addresses, after this one has ended.
    ///
    /// # Errors
    /// As at its first start. Also when this one still uses its addresses.
    pub fn start_again(&self) -> Result<Self, ProcessError> {
        Self::start(self.launch.clone())
    }

    /// Starts another program as the same part, at the same addresses and with the same settings, after this one has ended.
    ///
    /// # Errors
    /// Like [`Process::start_again`].
    pub fn start_again_with(&self, program: &Program) -> Result<Self, ProcessError> {
        Self::start(Launch { program: program.clone(), ..self.launch.clone() })
    }

    /// Replaces this process by a new one of the same part. Does not wait until it is ready.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn begin_again(&mut self) -> Result<(), ProcessError> {
        *self = Self::begin(self.launch.clone())?;
        Ok(())
    }

    /// Its current state. Does not wait.
    pub(crate) fn condition(&mut self) -> Condition {
        while let Ok(line) = self.output().try_recv() {
            self.read_line(&line);
        }
        match self.has_ended() {
            Some(status) => Condition::Ended(self.how_it_ended(status)),
            None if self.is_up() => Condition::Up,
            None => Condition::Starting,
        }
    }

    /// The name of the part.
    pub const fn name(&self) -> &'static str {
        self.launch.name
    }

    /// The path of its log.
    pub fn log(&self) -> &Path {
        &self.launch.log
    }

    pub(crate) const fn forgets(&self) -> Option<&'static str> {
        self.launch.forgets
    }

    /// The address of one of its listeners. Empty if it has no such listener.
    pub fn address(&self, listener: Listener) -> &str {
        let listeners = self.launch.listeners.iter().zip(&self.addresses);
        listeners
            .filter(|(its, _)| **its == listener)
            .map(|(_, address)| address.as_str())
            .next()
            .unwrap_or_default()
    }

    /// The URL of its main endpoint: `http://127.0.0.1:4711`.
    pub fn url(&self) -> &str {
        self.address(Listener::Http)
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        // The process id may belong to another process by now.
        if self.ended.is_some() {
            return Err(gone());
        }
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        Ok(rustix::process::kill_process(pid.ok_or_else(gone)?, signal)?)
    }

    /// The exit status, if it has ended.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.ended = self.ended.or_else(|| self.child.try_wait().ok().flatten());
        self.ended
    }

    /// Waits until it has ended, at most for `patience`.
    #[expect(clippy::disallowed_methods, reason = "polls with a deadline, on a dedicated thread")]
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
    fn is_up(&self) -> bool {
        self.addresses.len() == self.launch.listeners.len()
    }

    fn output(&mut self) -> &mut Receiver<String> {
        self.output.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_line(&mut self, line: &str) {
        let next = self.launch.listeners.get(self.addresses.len());
        let address = next.and_then(|listener| listener.read(line)).map(str::to_owned);
        self.addresses.extend(address);
    }

    /// The error of a part that closed its standard output before it was ready.
    fn failed(&mut self) -> ProcessError {
        let Launch { name, log, .. } = self.launch.clone();
        let said = match self.ends_within(POLL.saturating_mul(100)) {
            Some(status) => self.how_it_ended(status),
            None => "it closed its output".to_owned(),
        };
        ProcessError::Ended { name, said, log }
    }

    /// The status and the last line of its log. A killed process could not log a reason, so only its status is used.
    fn how_it_ended(&self, status: ExitStatus) -> String {
        if status.signal() == Some(Signal::KILL.as_raw()) {
            return status.to_string();
        }
        match self.launch.last_words(self.log_began_at) {
            Some(words) => format!("{status}, last output: {words}"),
            None => format!("{status}, no output"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended_before = self.child.kill();
        let _reaped_before = self.child.wait();
    }
}
