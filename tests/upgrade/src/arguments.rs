//! The arguments of the command line.

use std::time::Duration;

use crate::Failure;

const USAGE: &str = "usage: upgrade [--from COMMIT] [--longest-pause SECONDS] [--break | --build]";
/// How long sales may pause while one server of two is replaced on a quiet machine.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// What is rehearsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The release before: its tag or commit. Without it, the last one of docs/releases.table.
    pub from: Option<String>,
    /// How long sales may pause in a step.
    pub longest_pause: Duration,
    /// Whether the migration also takes away a column that the release before uses. Then the rehearsal must fail.
    pub breaks: bool,
    /// Whether the release before is only built, so that a later rehearsal does not take the processors from its neighbours.
    pub builds: bool,
}

impl Arguments {
    /// Reads them.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut arguments = Self { from: None, longest_pause: LONGEST_PAUSE, breaks: false, builds: false };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--from" => arguments.from = Some(words.next().ok_or(USAGE)?),
                "--longest-pause" => {
                    let seconds = words.next().and_then(|word| word.parse().ok()).ok_or(USAGE)?;
                    arguments.longest_pause = Duration::from_secs(seconds);
                }
                "--break" => arguments.breaks = true,
                "--build" => arguments.builds = true,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(arguments)
    }
}
