//! Serves the HTTP surfaces: settings in, its two addresses out, serving until it is told to stop.
//!
//! Nothing is decided here. The rooms are put together, run, and drained.

mod listener;
mod migrate;
mod server;
mod settings;

use std::path::Path;
use std::sync::Arc;

use clock::{SharedClock, SystemClock};
use vending::EngineRuntime;

pub use migrate::{MigrateSettings, migrate};
pub use server::{ApiServer, ServeError};
pub use settings::{HttpSettings, Settings};

/// What the process was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Errand {
    Serve,
    Migrate,
}

/// The whole program: `api-server [migrate] [settings.toml]`.
///
/// # Errors
/// Whatever kept it from serving or migrating, with its causes.
pub fn main(arguments: impl IntoIterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = arguments.into_iter().peekable();
    let errand = match arguments.next_if(|argument| argument == "migrate") {
        Some(_) => Errand::Migrate,
        None => Errand::Serve,
    };
    let file = arguments.next();
    let file = file.as_deref().map(Path::new);
    match errand {
        Errand::Migrate => migrate::run(file),
        Errand::Serve => serve(file, Arc::new(SystemClock)),
    }
}

fn serve(file: Option<&Path>, clock: SharedClock) -> Result<(), Box<dyn std::error::Error>> {
    connections::use_ring_for_tls();
    let settings = boot::load_checked(file, |settings: &Settings, review| settings.review(&clock, review))?;
    boot::telemetry::start(&settings.telemetry)?;
    let metrics = boot::metrics::start(describe_metrics)?;
    let engine = EngineRuntime::start(settings.engine_threads)?;
    let served = actix_web::rt::System::new().block_on(async {
        let stop = boot::stop_requested()?;
        let server = ApiServer::build(&settings, &metrics, engine.engine(), clock).await?;
        announce(&server);
        server.run_until(stop).await?;
        Ok(())
    });
    engine.finish();
    served
}

/// Says what everything that this program counts means.
pub fn describe_metrics() {
    boot::panics::describe_metrics();
    store::describe_metrics();
    vending::describe_metrics();
    web::describe_metrics();
}

#[expect(clippy::print_stdout, reason = "whoever started the process reads its addresses there")]
fn announce(server: &ApiServer) {
    println!("http://{}", server.address());
    println!("observe http://{}", server.observe_address());
}
