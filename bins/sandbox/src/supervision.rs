//! Looks after the parts of a sandbox that runs: what has ended is started again, after a pause that grows while that
//! does not help. Nothing here waits, so no part's slow start delays another's.

use std::{fmt, path::PathBuf, time::Duration};

use clock::Monotonic;
use local_postgres::{LocalPostgres, ServerState};

use crate::process::{Condition, Process, START_PATIENCE};

const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Soon enough for somebody who has just mended a settings file.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Whoever was up for so long has started well: the pauses begin anew.
const STEADY: Duration = Duration::from_secs(30);

/// How long what has ended rests until it is started again: twice as long each time, up to five seconds.
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

/// A part of the sandbox, as its supervision sees it. None of its methods waits.
pub(crate) trait Part {
    /// What it is called in front of people.
    fn name(&self) -> &'static str;

    /// Where what it says of itself is written.
    fn log(&self) -> PathBuf;

    /// What it does not remember of an earlier life, where somebody would miss it.
    fn forgets(&self) -> Option<&'static str>;

    /// What it does now.
    fn condition(&mut self) -> Condition;

    /// Has it start once more, after it has ended. Else, why it cannot.
    fn begin_again(&mut self) -> Result<(), String>;

    /// Ends it.
    fn kill(&mut self);
}

/// What the supervision knows about one part.
#[derive(Debug)]
pub(crate) struct Watch {
    phase: Phase,
    pauses: Pauses,
    /// What was told last about an end.
    told: Option<Happening>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Up { since: Monotonic },
    Resting { since: Monotonic, pause: Duration },
    Starting { since: Monotonic },
}

/// Something that a person who watches wants to know, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Which part.
    pub part: &'static str,
    /// What became of it.
    pub happening: Happening,
    /// Where what it says of itself is written.
    pub log: PathBuf,
}

/// What became of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// It has ended while it was up.
    Ended {
        /// The last line of its log, and how it ended.
        why: String,
        /// How long it rests until it is started again.
        pause: Duration,
    },
    /// It has ended, or was ended, before it was up.
    NotStarted {
        /// The last line of its log, and how it ended.
        why: String,
        /// How long it rests until it is started again.
        pause: Duration,
    },
    /// It is up again.
    Up {
        /// What it does not remember of its earlier life, where somebody would miss it.
        forgets: Option<&'static str>,
    },
}

impl Watch {
    /// Of a part that is up now.
    pub(crate) const fn begin(now: Monotonic) -> Self {
        Self { phase: Phase::Up { since: now }, pauses: Pauses { last: None }, told: None }
    }

    /// Looks at the part, and starts it again when it is time. Tells what has changed, but not the same thing twice.
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
        let is_news = self.told.as_ref() != Some(&happening);
        self.told = Some(happening.clone());
        is_news.then(|| Report { part: part.name(), happening, log: part.log() })
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
                // Its log goes on where other lines ended; one of them is enough.
                let words = self.last_words();
                Condition::Ended(words.rsplit(" | ").next().unwrap_or_default().to_owned())
            }
        }
    }

    fn begin_again(&mut self) -> Result<(), String> {
        self.start_again().map_err(|error| in_words(&error))
    }

    /// Only whoever runs it knows its process; it is left to go on starting.
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

/// An error with everything that caused it, on one line.
fn in_words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests;
