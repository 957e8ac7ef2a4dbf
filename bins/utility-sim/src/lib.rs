//! The simulator as a process: settings in, one line with its address out, serving until it is told to stop.

use std::{error::Error, io, path::PathBuf, sync::Arc};

use boot::TelemetrySettings;
use clock::{SharedClock, SystemClock};
use serde::Deserialize;
use utility_sim::{Simulator, SimulatorSettings, StartError};

/// What the process is told.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The world it simulates.
    pub simulator: SimulatorSettings,
    /// What it says about itself.
    pub telemetry: TelemetrySettings,
}

/// Why the process ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The world does not start.
    #[error("the simulator did not start")]
    Start(#[source] StartError),
    /// Signals cannot be listened for.
    #[error("the simulator cannot be told to stop")]
    Signals(#[source] io::Error),
}

/// The whole program: `utility-sim-server [settings.toml]`.
///
/// # Errors
/// Whatever kept it from serving, with its causes.
pub fn main(arguments: impl IntoIterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let file = arguments.into_iter().next().map(PathBuf::from);
    let settings: Settings = boot::load(file.as_deref())?;
    boot::telemetry::start(&settings.telemetry)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(&settings, Arc::new(SystemClock)))?;
    Ok(())
}

/// Serves until SIGTERM or SIGINT. Prints the address it listens on, `http://127.0.0.1:4711`, as its only line.
#[expect(clippy::print_stdout, reason = "whoever started the process reads its address there")]
pub async fn run(settings: &Settings, clock: SharedClock) -> Result<(), RunError> {
    let stop = boot::stop_requested().map_err(RunError::Signals)?;
    let simulator = Simulator::start(&settings.simulator, clock).map_err(RunError::Start)?;
    println!("{}", simulator.url());
    stop.await;
    simulator.stop().await;
    Ok(())
}
