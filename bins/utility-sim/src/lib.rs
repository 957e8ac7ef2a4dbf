//! The simulator as a process: settings in, its addresses out, serving until it is told to stop.

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
    let settings = boot::load_checked(file.as_deref(), |settings: &Settings, review| {
        review.section("simulator", || settings.simulator.checked());
        review.section("telemetry", || settings.telemetry.checked());
    })?;
    boot::telemetry::start(&settings.telemetry)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(&settings, Arc::new(SystemClock)))?;
    Ok(())
}

/// Serves until SIGTERM or SIGINT. Prints where it listens: `http://127.0.0.1:4711`, then `smtp 127.0.0.1:4712`.
#[expect(clippy::print_stdout, reason = "whoever started the process reads its addresses there")]
pub async fn run(settings: &Settings, clock: SharedClock) -> Result<(), RunError> {
    let stop = boot::stop_requested().map_err(RunError::Signals)?;
    let simulator = Simulator::start(&settings.simulator, clock).map_err(RunError::Start)?;
    println!("{}", simulator.url());
    println!("smtp {}", simulator.smtp_address());
    stop.await;
    simulator.stop().await;
    Ok(())
}
