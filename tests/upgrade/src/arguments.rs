//! The arguments of the command line.

use crate::Failure;

const USAGE: &str = "usage: upgrade [--from COMMIT] [--break | --build]";

/// What is rehearsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The release before: its tag or commit. Without it, the last one of docs/releases.table.
    pub from: Option<String>,
    /// Whether the migration also takes away a column that the release before uses. Then the rehearsal must fail.
    pub breaks: bool,
    /// Whether the release before is only built, so that a later rehearsal does not take the processors from its neighbours.
    pub builds: bool,
}

impl Arguments {
    /// Reads them.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut arguments = Self::default();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--from" => arguments.from = Some(words.next().ok_or(USAGE)?),
                "--break" => arguments.breaks = true,
                "--build" => arguments.builds = true,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(arguments)
    }
}
