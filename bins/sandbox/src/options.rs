//! The options of a sandbox: its parts and its pace.

use std::path::{Path, PathBuf};
use std::time::Duration;

use identity::Environment;
use local_postgres::{Cluster, Durability};

/// The default port of the API.
pub const USUAL_PORT: u16 = 8080;

/// The options of a sandbox.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port of the API on 127.0.0.1. 0 takes a free port. All other listeners take free ports.
    pub port: u16,
    /// The directory for `sandbox.json`, the settings of the servers and their logs.
    pub directory: PathBuf,
    /// Whether commits are synced to the disk.
    pub durability: Durability,
    /// Settings of the private Postgres that replace its usual ones, each as `name=value`.
    pub postgres_settings: &'static [&'static str],
    /// The cluster that has the database, instead of a private Postgres.
    pub cluster: Option<Cluster>,
    /// Whether the servers refuse a database that acknowledges commits without a standby.
    pub requires_standby: bool,
    /// The environment of the organisations and of the API.
    pub environment: Environment,
    /// The length of all time limits.
    pub pace: Pace,
    /// Whether webhooks may be sent to this machine over plain HTTP. Programs of 0.1.0 refuse the settings for it.
    pub webhooks_stay_here: bool,
    /// Whether the servers sign certificates of outcomes. Programs of 0.1.0 refuse the settings for it.
    pub certifies: bool,
    /// Whether a worker is started with the sandbox.
    pub works: bool,
    /// Whether the operators' console is started with the sandbox.
    pub has_console: bool,
    /// The number of ordinary electricity meters besides the scenarios. An allow-list has room for about 900.
    pub population: u32,
}

/// The length of the time limits, and the delay of the delayed meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// All time limits have their defaults, for measurements. The simulator is as in `Real`.
    Production,
    /// As in production, but doubt ends within a minute. The delayed meter is 95 s late.
    Real,
    /// For people: as in `Real`, and a purchase that only a person can end is in review after two minutes.
    Practice,
    /// For tests: the same order of limits, in seconds.
    Brisk,
    /// For sweeps that crash hundreds of servers: the same order of limits, in tenths of seconds.
    Breathless,
}

impl Pace {
    /// How long after a request the simulated providers may still execute it: the longest delay of their planned
    /// faults.
    pub const fn settles_within(self) -> Duration {
        match self {
            Self::Production | Self::Real | Self::Practice => Duration::from_secs(10),
            Self::Brisk => Duration::from_secs(3),
            Self::Breathless => Duration::from_secs(2),
        }
    }
}

impl Options {
    /// The options of `cargo sandbox`: as in production, but doubt ends sooner, in `target/sandbox` of the workspace.
    pub fn for_people() -> Self {
        Self {
            port: USUAL_PORT,
            directory: workspace().join("target/sandbox"),
            durability: Durability::Durable,
            postgres_settings: &[],
            cluster: None,
            requires_standby: false,
            environment: Environment::Staging,
            pace: Pace::Practice,
            webhooks_stay_here: true,
            certifies: true,
            works: true,
            has_console: true,
            population: 500,
        }
    }

    /// The options of tests: brisk, on a free port, in their own directory. Each organisation has all meters on its allow-list, so
    /// few meters make a quick start.
    pub fn for_tests(directory: PathBuf) -> Self {
        Self {
            port: 0,
            directory,
            durability: Durability::Throwaway,
            pace: Pace::Brisk,
            has_console: false,
            population: 20,
            ..Self::for_people()
        }
    }
}

/// The directory of the workspace, independent of the current directory.
fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).expect("the package is in bins/ of the workspace")
}
