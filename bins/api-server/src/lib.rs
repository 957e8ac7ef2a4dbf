//! The program that serves the HTTP surfaces: it reads settings, prints two addresses, and serves until it is asked to
//! stop.
//!
//! It contains no decisions. It assembles the crates, runs them, and drains them.

mod facts;
mod listener;
mod migrate;
mod server;
mod settings;

use std::{path::Path, sync::Arc};

use boot::SettingsError;
use clock::{SharedClock, SystemClock};
use traces::Traces;
use vending::EngineRuntime;

pub use facts::facts;
pub use migrate::{MigrateSettings, migrate};
pub use server::{ApiServer, ServeError};
pub use settings::{HttpSettings, Settings};

/// The command of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Serve,
    Migrate,
    CheckSettings,
}

/// The whole program: `api-server [migrate | --check-settings] [settings.toml]`.
///
/// # Errors
/// What prevented serving or migrating, with its causes, or all mistakes of the settings.
pub fn main(arguments: impl IntoIterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = arguments.into_iter().peekable();
    let command = match arguments.peek().map(String::as_str) {
        Some("migrate") => Command::Migrate,
        Some(boot::CHECK_SETTINGS) => Command::CheckSettings,
        Some(_) | None => Command::Serve,
    };
    if command != Command::Serve {
        arguments.next();
    }
    let file = arguments.next();
    let file = file.as_deref().map(Path::new);
    let clock: SharedClock = Arc::new(SystemClock);
    match command {
        Command::Migrate => migrate::run(file),
        Command::Serve => serve(file, clock),
        Command::CheckSettings => {
            load(file, &clock)?;
            boot::say_settings_are_valid();
            Ok(())
        }
    }
}

/// Reads and checks the settings, as `--check-settings` does.
///
/// # Errors
/// When the file cannot be read. Otherwise with all mistakes at once.
pub fn load(file: Option<&Path>, clock: &SharedClock) -> Result<Settings, SettingsError> {
    provider_registry::use_ring_for_tls();
    boot::load_checked(file, |settings: &Settings, review| settings.review(clock, review))
}

fn serve(file: Option<&Path>, clock: SharedClock) -> Result<(), Box<dyn std::error::Error>> {
    let settings = load(file, &clock)?;
    boot::telemetry::start(&settings.telemetry)?;
    let metrics = boot::metrics::start(describe_metrics)?;
    let (traces, exporter) = Traces::start(&settings.traces, "api-server", clock.clone())?;
    let engine = EngineRuntime::start(settings.engine_threads)?;
    let served = actix_web::rt::System::new().block_on(async {
        let stop = boot::stop_requested()?;
        let server = ApiServer::build(&settings, &metrics, engine.engine(), (clock, traces)).await?;
        announce(&server);
        server.run_until(stop).await?;
        Ok(())
    });
    engine.finish();
    exporter.finish();
    served
}

/// Registers the descriptions of all metrics of this program.
pub fn describe_metrics() {
    boot::panics::describe_metrics();
    database::describe_metrics();
    store::describe_metrics();
    traces::describe_metrics();
    vending::describe_metrics();
    web::describe_metrics();
}

#[expect(clippy::print_stdout, reason = "the parent process reads the addresses there")]
fn announce(server: &ApiServer) {
    println!("http://{}", server.address());
    println!("observe http://{}", server.observe_address());
}
