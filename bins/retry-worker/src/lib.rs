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

use clock::{SharedClock, SystemClock};
use tokio::runtime::Builder;
use vending::EngineRuntime;

pub use rounds::RoundSettings;
pub use settings::Settings;
pub use worker::{WorkError, Worker};

/// The whole program: `retry-worker [settings.toml]`.
///
/// # Errors
/// What prevented the work, with its causes.
pub fn main(arguments: impl IntoIterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let file = arguments.into_iter().next();
    work(file.as_deref().map(Path::new), Arc::new(SystemClock))
}

fn work(file: Option<&Path>, clock: SharedClock) -> Result<(), Box<dyn std::error::Error>> {
    provider_registry::use_ring_for_tls();
    let settings = boot::load_checked(file, |settings: &Settings, review| settings.review(&clock, review))?;
    boot::telemetry::start(&settings.telemetry)?;
    let metrics = boot::metrics::start(describe_metrics)?;
    let engine = EngineRuntime::start(settings.engine_threads)?;
    let worked = Builder::new_current_thread().enable_all().build()?.block_on(async {
        let stop = boot::stop_requested()?;
        let worker = Worker::build(&settings, &metrics, engine.engine(), clock).await?;
        announce(&worker);
        worker.run_until(stop).await;
        Ok(())
    });
    engine.finish();
    worked
}

/// Registers the descriptions of all metrics of this program.
pub fn describe_metrics() {
    boot::panics::describe_metrics();
    database::describe_metrics();
    store::describe_metrics();
    back_office::describe_metrics();
    vending::describe_metrics();
    notify::describe_metrics();
    rounds::describe_metrics();
}

#[expect(clippy::print_stdout, reason = "the parent process reads the address there")]
fn announce(worker: &Worker) {
    println!("observe http://{}", worker.observe_address());
}
