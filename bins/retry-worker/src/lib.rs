//! The worker: it brings open purchases to their final state in the background and sends the messages about it. It
//! reads settings and works until it is asked to stop.
//!
//! It contains no decisions. It assembles the crates, runs them, and drains them. Its start needs no recovery step:
//! work that an earlier process left is claimed when its lease has ended. Any number of workers may run at the same
//! time.

mod rounds;
mod settings;
mod worker;

use std::{path::Path, sync::Arc};

use boot::SettingsError;
use clock::{SharedClock, SystemClock};
use tokio::runtime::Builder;
use traces::Traces;
use vending::EngineRuntime;

pub use rounds::RoundSettings;
pub use settings::Settings;
pub use worker::{WorkError, Worker};

/// The whole program: `retry-worker [--check-settings] [settings.toml]`.
///
/// # Errors
/// What prevented the work, with its causes, or all mistakes of the settings.
pub fn main(arguments: impl IntoIterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = arguments.into_iter().peekable();
    let only_checks = arguments.next_if(|argument| argument == boot::CHECK_SETTINGS).is_some();
    let file = arguments.next();
    let (file, clock): (_, SharedClock) = (file.as_deref().map(Path::new), Arc::new(SystemClock));
    let settings = load(file, &clock)?;
    if only_checks {
        boot::say_settings_are_valid();
        return Ok(());
    }
    work(&settings, clock)
}

/// Reads and checks the settings, as `--check-settings` does.
///
/// # Errors
/// When the file cannot be read. Otherwise with all mistakes at once.
pub fn load(file: Option<&Path>, clock: &SharedClock) -> Result<Settings, SettingsError> {
    provider_registry::use_ring_for_tls();
    boot::load_checked(file, |settings: &Settings, review| settings.review(clock, review))
}

fn work(settings: &Settings, clock: SharedClock) -> Result<(), Box<dyn std::error::Error>> {
    boot::telemetry::start(&settings.telemetry)?;
    let metrics = boot::metrics::start(describe_metrics)?;
    let (traces, exporter) = Traces::start(&settings.traces, "retry-worker", clock.clone())?;
    let engine = EngineRuntime::start(settings.engine_threads)?;
    let worked = Builder::new_current_thread().enable_all().build()?.block_on(async {
        let stop = boot::stop_requested()?;
        let worker = Worker::build(settings, &metrics, engine.engine(), (clock, traces)).await?;
        announce(&worker);
        Box::pin(worker.run_until(stop)).await;
        Ok(())
    });
    engine.finish();
    exporter.finish();
    worked
}

/// Registers the descriptions of all metrics of this program.
pub fn describe_metrics() {
    boot::panics::describe_metrics();
    database::describe_metrics();
    store::describe_metrics();
    traces::describe_metrics();
    back_office::describe_metrics();
    vending::describe_metrics();
    notify::describe_metrics();
    webhook_delivery::describe_metrics();
    rounds::describe_metrics();
}

#[expect(clippy::print_stdout, reason = "the parent process reads the address there")]
fn announce(worker: &Worker) {
    println!("observe http://{}", worker.observe_address());
}
