//! The program that serves the HTTP surfaces: it reads settings, prints two addresses, and serves until it is asked to
//! stop.
//!
//! It contains no decisions. It assembles the crates, runs them, and drains them.

mod listener;
mod migrate;
mod server;
mod settings;

use std::{path::Path, sync::Arc};

use clock::{SharedClock, SystemClock};
use vending::EngineRuntime;

pub use migrate::{MigrateSettings, migrate};
pub use server::{ApiServer, ServeError};
pub use settings::{HttpSettings, Settings};

/// The command of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Serve,
    Migrate,
}

/// The whole program: `api-server [migrate] [settings.toml]`.
///
/// # Errors
/// What prevented serving or migrating, with its causes.
pub fn main(arguments: impl IntoIterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = arguments.into_iter().peekable();
    let command = match arguments.next_if(|argument| argument == "migrate") {
        Some(_) => Command::Migrate,
        None => Command::Serve,
    };
    let file = arguments.next();
    let file = file.as_deref().map(Path::new);
    match command {
        Command::Migrate => migrate::run(file),
        Command::Serve => serve(file, Arc::new(SystemClock)),
    }
}

fn serve(file: Option<&Path>, clock: SharedClock) -> Result<(), Box<dyn std::error::Error>> {
    provider_registry::use_ring_for_tls();
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

/// Registers the descriptions of all metrics of this program.
pub fn describe_metrics() {
    boot::panics::describe_metrics();
    database::describe_metrics();
    store::describe_metrics();
    vending::describe_metrics();
    web::describe_metrics();
}

#[expect(clippy::print_stdout, reason = "the parent process reads the addresses there")]
fn announce(server: &ApiServer) {
    println!("http://{}", server.address());
    println!("observe http://{}", server.observe_address());
}
