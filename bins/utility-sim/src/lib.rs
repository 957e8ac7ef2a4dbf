//! The simulator as a process: it reads settings, prints its addresses, and serves until it is asked to stop.

use std::{error::Error, io, path::PathBuf, sync::Arc};

use boot::TelemetrySettings;
use clock::{SharedClock, SystemClock};
use serde::Deserialize;
use utility_sim::{Simulator, SimulatorSettings, StartError};

/// All settings of the process.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The simulator.
    pub simulator: SimulatorSettings,
    /// The log.
    pub telemetry: TelemetrySettings,
}

/// Why the process ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The simulator cannot be started.
    #[error("the simulator did not start")]
    Start(#[source] StartError),
    /// The signal handlers cannot be installed.
    #[error("the signal handlers cannot be installed")]
    Signals(#[source] io::Error),
}

/// The whole program: `utility-sim-server [settings.toml]`.
///
/// # Errors
/// What prevented serving, with its causes.
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
#[expect(clippy::print_stdout, reason = "the parent process reads the addresses there")]
pub async fn run(settings: &Settings, clock: SharedClock) -> Result<(), RunError> {
    let stop = boot::stop_requested().map_err(RunError::Signals)?;
    let simulator = Simulator::start(&settings.simulator, clock).map_err(RunError::Start)?;
    println!("{}", simulator.url());
    println!("smtp {}", simulator.smtp_address());
    stop.await;
    simulator.stop().await;
    Ok(())
}
