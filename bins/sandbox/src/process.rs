//! One part as a process of its own: started, spoken to by signals, started again, and never left behind.

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

use crate::launch::{Door, Launch, lines_of};

/// Signals that a test or a person sends.
pub use rustix::process::Signal;

/// On a very busy machine.
pub(crate) const START_PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(10);

/// A part that was started. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Known once somebody has asked after its end.
    ended: Option<ExitStatus>,
    /// Closed when this process ends in any way, which ends the part.
    _lifeline: ChildStdin,
    /// A mutex only so that a process can be shared between threads.
    says: Mutex<Receiver<String>>,
    launch: Launch,
    /// How long the log was when it began.
    log_began_at: u64,
    /// Where each of its doors is, in the order of the launch; fewer than that while it starts.
    addresses: Vec<String>,
}

/// What a part does at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// It has not said yet where it can be reached.
    Starting,
    /// It works.
    Up,
    /// It has ended; why, as far as is known.
    Ended(String),
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
        /// How, and the end of its log.
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
        let mut process = Self::begin(launch)?;
        while !process.is_up() {
            match process.says().recv_timeout(START_PATIENCE) {
                Ok(line) => process.hear(&line),
                Err(RecvTimeoutError::Timeout) => {
                    let (name, log) = (process.launch.name, process.launch.log.clone());
                    return Err(ProcessError::Silent { name, log });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(process.failed()),
            }
        }
        Ok(process)
    }

    /// Starts a part, and does not wait.
    ///
    /// # Errors
    /// When it cannot be started at all.
    fn begin(launch: Launch) -> Result<Self, ProcessError> {
        let name = launch.name;
        let not_started = |source| ProcessError::NotStarted { name, source };
        let log_began_at = launch.log_length();
        let mut child = launch.command().and_then(|mut command| command.spawn()).map_err(not_started)?;
        let (Some(lifeline), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(not_started(io::Error::from(io::ErrorKind::BrokenPipe)));
        };
        let (says, addresses) = (Mutex::new(lines_of(stdout)), Vec::new());
        Ok(Self { child, ended: None, _lifeline: lifeline, says, launch, log_began_at, addresses })
    }

    /// The same part once more, where it was, after this one has ended.
    ///
    /// # Errors
    /// As at its first start; also when this one still holds its doors.
    pub fn start_again(&self) -> Result<Self, ProcessError> {
        Self::start(self.launch.clone())
    }

    /// Puts the same part in the place of this one, and does not wait until it is up.
    ///
    /// # Errors
    /// When it cannot be started at all.
    pub(crate) fn begin_again(&mut self) -> Result<(), ProcessError> {
        *self = Self::begin(self.launch.clone())?;
        Ok(())
    }

    /// What it does now. Does not wait.
    pub(crate) fn condition(&mut self) -> Condition {
        while let Ok(line) = self.says().try_recv() {
            self.hear(&line);
        }
        match self.has_ended() {
            Some(status) => Condition::Ended(self.how_it_ended(status)),
            None if self.is_up() => Condition::Up,
            None => Condition::Starting,
        }
    }

    /// Which part it is.
    pub const fn name(&self) -> &'static str {
        self.launch.name
    }

    /// Where what it says of itself is written.
    pub fn log(&self) -> &Path {
        &self.launch.log
    }

    pub(crate) const fn forgets(&self) -> Option<&'static str> {
        self.launch.forgets
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
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        // Its number may belong to somebody else by now.
        if self.ended.is_some() {
            return Err(gone());
        }
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        Ok(rustix::process::kill_process(pid.ok_or_else(gone)?, signal)?)
    }

    /// How it ended, if it has.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.ended = self.ended.or_else(|| self.child.try_wait().ok().flatten());
        self.ended
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
    fn is_up(&self) -> bool {
        self.addresses.len() == self.launch.doors.len()
    }

    fn says(&mut self) -> &mut Receiver<String> {
        self.says.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&mut self, line: &str) {
        let next = self.launch.doors.get(self.addresses.len());
        let address = next.and_then(|door| door.read(line)).map(str::to_owned);
        self.addresses.extend(address);
    }

    /// Why it is not up, when it has closed its standard output.
    fn failed(&mut self) -> ProcessError {
        let Launch { name, log, .. } = self.launch.clone();
        let said = match self.ends_within(POLL.saturating_mul(100)) {
            Some(status) => self.how_it_ended(status),
            None => "it says nothing more".to_owned(),
        };
        ProcessError::Ended { name, said, log }
    }

    /// The status, and the last line that it wrote into its log: unless it was killed, of which it cannot have said
    /// anything.
    fn how_it_ended(&self, status: ExitStatus) -> String {
        if status.signal() == Some(Signal::KILL.as_raw()) {
            return status.to_string();
        }
        match self.launch.last_words(self.log_began_at) {
            Some(words) => format!("{status}, after it said: {words}"),
            None => format!("{status}, without a word"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended_before = self.child.kill();
        let _reaped_before = self.child.wait();
    }
}
