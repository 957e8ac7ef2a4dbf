//! Brings open purchases to their end, in the background, and tells people how they ended: settings in, working until it is
//! told to stop.
//!
//! Nothing is decided here. The rooms are put together, run, and drained. It begins like any other moment of its life: what
//! an earlier process left behind is claimed when its lease has run out, so nothing has to be mended first, and any number
//! of workers may run side by side.

mod rounds;
mod settings;
mod worker;

use std::path::Path;
use std::sync::Arc;

use clock::{SharedClock, SystemClock};
use tokio::runtime::Builder;
use vending::EngineRuntime;

pub use rounds::RoundSettings;
pub use settings::Settings;
pub use worker::{WorkError, Worker};

/// The whole program: `retry-worker [settings.toml]`.
///
/// # Errors
/// Whatever kept it from working, with its causes.
pub fn main(arguments: impl IntoIterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let file = arguments.into_iter().next();
    work(file.as_deref().map(Path::new), Arc::new(SystemClock))
}

fn work(file: Option<&Path>, clock: SharedClock) -> Result<(), Box<dyn std::error::Error>> {
    connections::use_ring_for_tls();
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

/// Says what everything that this program counts means.
pub fn describe_metrics() {
    boot::panics::describe_metrics();
    store::describe_metrics();
    vending::describe_metrics();
    notify::describe_metrics();
    rounds::describe_metrics();
}

#[expect(clippy::print_stdout, reason = "whoever started the process reads its address there")]
fn announce(worker: &Worker) {
    println!("observe http://{}", worker.observe_address());
}
