//! Supervises the parts of a running sandbox: an ended part is restarted after a pause that grows with each failure. No
//! function here waits, so a slow start of one part does not delay another.

use std::{fmt, path::PathBuf, time::Duration};

use clock::Monotonic;
use local_postgres::{LocalPostgres, ServerState};

use crate::process::{Condition, Process, START_PATIENCE};

const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Short enough for a user who has just corrected a settings file.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A part that ran for this long has started well. Its pauses start again from the first.
const STEADY: Duration = Duration::from_secs(30);

/// The pauses before a restart: each is twice as long as the last, up to five seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pauses {
    last: Option<Duration>,
}

impl Pauses {
    /// The next pause.
    pub fn lengthen(&mut self) -> Duration {
        let pause = self.last.map_or(FIRST_PAUSE, |last| last.saturating_mul(2)).min(LONGEST_PAUSE);
        self.last = Some(pause);
        pause
    }
}

/// A part of the sandbox, as its supervision uses it. None of its methods waits.
pub(crate) trait Part {
    /// Its name in messages.
    fn name(&self) -> &'static str;

    /// The path of its log.
    fn log(&self) -> PathBuf;

    /// The relevant state that it loses in a restart, if any.
    fn forgets(&self) -> Option<&'static str>;

    /// Its current state.
    fn condition(&mut self) -> Condition;

    /// Restarts it after it has ended. Otherwise returns why it cannot.
    fn begin_again(&mut self) -> Result<(), String>;

    /// Kills it.
    fn kill(&mut self);
}

/// The supervision state of one part.
#[derive(Debug)]
pub(crate) struct Watch {
    phase: Phase,
    pauses: Pauses,
    /// The last reported event, so that it is not reported twice in a row.
    reported: Option<Happening>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Up { since: Monotonic },
    Resting { since: Monotonic, pause: Duration },
    Starting { since: Monotonic },
}

/// A change of a part, to be printed on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The name of the part.
    pub part: &'static str,
    /// The change.
    pub happening: Happening,
    /// The path of its log.
    pub log: PathBuf,
}

/// A change of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// It ended after it was ready.
    Ended {
        /// Its exit status and the last line of its log.
        why: String,
        /// The pause before the restart.
        pause: Duration,
    },
    /// It ended, or was killed, before it was ready.
    NotStarted {
        /// Its exit status and the last line of its log.
        why: String,
        /// The pause before the restart.
        pause: Duration,
    },
    /// It is ready again.
    Up {
        /// The relevant state that it lost, if any.
        forgets: Option<&'static str>,
    },
}

impl Watch {
    /// The state of a part that is ready now.
    pub(crate) const fn begin(now: Monotonic) -> Self {
        Self { phase: Phase::Up { since: now }, pauses: Pauses { last: None }, reported: None }
    }

    /// Checks the part, and restarts it when it is time. Reports a change, but not the same change twice in a row.
    pub(crate) fn tend(&mut self, part: &mut dyn Part, now: Monotonic) -> Option<Report> {
        let happening = match self.phase {
            Phase::Up { since } => {
                let Condition::Ended(why) = part.condition() else { return None };
                if now.elapsed_since(since) >= STEADY {
                    self.pauses = Pauses::default();
                }
                let pause = self.rest(now);
                Happening::Ended { why, pause }
            }
            Phase::Resting { since, pause } => {
                if now.elapsed_since(since) < pause {
                    return None;
                }
                match part.begin_again() {
                    Ok(()) => {
                        self.phase = Phase::Starting { since: now };
                        return None;
                    }
                    Err(why) => Happening::NotStarted { why, pause: self.rest(now) },
                }
            }
            Phase::Starting { since } => match part.condition() {
                Condition::Up => {
                    self.phase = Phase::Up { since: now };
                    Happening::Up { forgets: part.forgets() }
                }
                Condition::Ended(why) => Happening::NotStarted { why, pause: self.rest(now) },
                Condition::Starting if now.elapsed_since(since) >= START_PATIENCE => {
                    part.kill();
                    let why = format!("it was not up within {} s", START_PATIENCE.as_secs());
                    Happening::NotStarted { why, pause: self.rest(now) }
                }
                Condition::Starting => return None,
            },
        };
        let is_new = self.reported.as_ref() != Some(&happening);
        self.reported = Some(happening.clone());
        is_new.then(|| Report { part: part.name(), happening, log: part.log() })
    }

    fn rest(&mut self, now: Monotonic) -> Duration {
        let pause = self.pauses.lengthen();
        self.phase = Phase::Resting { since: now, pause };
        pause
    }
}

impl Part for Process {
    fn name(&self) -> &'static str {
        Self::name(self)
    }

    fn log(&self) -> PathBuf {
        Self::log(self).to_owned()
    }

    fn forgets(&self) -> Option<&'static str> {
        Self::forgets(self)
    }

    fn condition(&mut self) -> Condition {
        Self::condition(self)
    }

    fn begin_again(&mut self) -> Result<(), String> {
        Self::begin_again(self).map_err(|error| in_words(&error))
    }

    fn kill(&mut self) {
        let _ended_before = self.signal(crate::Signal::KILL);
    }
}

impl Part for LocalPostgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn log(&self) -> PathBuf {
        self.directory().join("log")
    }

    fn forgets(&self) -> Option<&'static str> {
        None
    }

    fn condition(&mut self) -> Condition {
        match self.state() {
            ServerState::Starting => Condition::Starting,
            ServerState::Ready => Condition::Up,
            ServerState::Ended => {
                // The last lines of the log are joined with bars. The last one is enough.
                let words = self.last_words();
                Condition::Ended(words.rsplit(" | ").next().unwrap_or_default().to_owned())
            }
        }
    }

    fn begin_again(&mut self) -> Result<(), String> {
        self.start_again().map_err(|error| in_words(&error))
    }

    /// Only its watcher process knows the server's process id. Its start continues.
    fn kill(&mut self) {}
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, happening, log } = self;
        let log = log.display();
        match happening {
            Happening::Ended { why, pause } => {
                write!(out, "{part} has ended ({why}; see {log}); it is started again in {pause:?}.")
            }
            Happening::NotStarted { why, pause } if *pause < LONGEST_PAUSE => {
                write!(out, "{part} did not start ({why}; see {log}); it is tried again in {pause:?}.")
            }
            Happening::NotStarted { why, pause } => {
                write!(out, "{part} did not start ({why}; see {log}); it is tried again every {pause:?}.")
            }
            Happening::Up { forgets: None } => write!(out, "{part} is up again."),
            Happening::Up { forgets: Some(what) } => write!(out, "{part} is up again: {what}."),
        }
    }
}

/// An error with all its causes, on one line.
fn in_words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests;
