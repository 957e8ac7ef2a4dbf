//! What is to be brought up, and how fast it lives.

use std::path::{Path, PathBuf};
use std::time::Duration;

use local_postgres::Durability;

/// The port that a newcomer expects the API on.
pub const USUAL_PORT: u16 = 8080;

/// What a sandbox is like.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the API listens on 127.0.0.1; 0 takes a free port. Everything else takes free ports anyway.
    pub port: u16,
    /// Where `sandbox.json`, the settings of the servers and their logs are written.
    pub directory: PathBuf,
    /// Whether commits are synced to the disk.
    pub durability: Durability,
    /// How long everything may take.
    pub pace: Pace,
    /// Whether a worker looks after open purchases from the beginning.
    pub works: bool,
    /// How many ordinary electricity meters there are beside the configured scenarios; an allow-list has room for
    /// some 900.
    pub population: u32,
}

/// How long the time chain is, and how late the delayed meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Every setting of the time chain at its default, for measurements; the simulator is as in `Real`.
    Production,
    /// As in production, but doubt ends within a minute: the delayed meter is late by 95 s.
    Real,
    /// For tests: the same order, in seconds.
    Brisk,
    /// For sweeps that crash hundreds of servers: the same order, in tenths of seconds.
    Breathless,
}

impl Pace {
    /// How long after an order the simulated providers may still act on it: as long as the slowest of their planned
    /// misbehaviours keeps an order waiting.
    pub const fn settles_within(self) -> Duration {
        match self {
            Self::Production | Self::Real => Duration::from_secs(10),
            Self::Brisk => Duration::from_secs(3),
            Self::Breathless => Duration::from_secs(2),
        }
    }
}

impl Options {
    /// For a person: as in production, in `target/sandbox` of the workspace.
    pub fn for_people() -> Self {
        Self {
            port: USUAL_PORT,
            directory: workspace().join("target/sandbox"),
            durability: Durability::Durable,
            pace: Pace::Real,
            works: true,
            population: 500,
        }
    }

    /// For tests: brisk, on a free port, in a directory of their own.
    pub fn for_tests(directory: PathBuf) -> Self {
        Self {
            port: 0,
            directory,
            durability: Durability::Throwaway,
            pace: Pace::Brisk,
            ..Self::for_people()
        }
    }
}

/// The directory of the workspace, wherever the program is started from.
fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).expect("the package lies in bins/ of the workspace")
}
