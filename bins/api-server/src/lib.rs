//! Serves the HTTP surfaces: settings in, one line with its address out, serving until it is told to stop.
//!
//! Nothing is decided here. The rooms are put together, run, and drained.

mod engine;
mod migrate;
mod providers;
mod server;
mod settings;

use std::path::Path;
use std::sync::Arc;

use clock::{SharedClock, SystemClock};

pub use engine::EngineRuntime;
pub use migrate::{MigrateSettings, migrate};
pub use providers::ProviderSettings;
pub use server::{ApiServer, ServeError};
pub use settings::{HttpSettings, KeySettings, SealingSettings, Settings};

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
    let settings: Settings = boot::load(file)?;
    boot::telemetry::start(&settings.telemetry)?;
    providers::use_ring_for_tls();
    let engine = EngineRuntime::start(settings.engine_threads)?;
    let served = actix_web::rt::System::new().block_on(async {
        let stop = boot::stop_requested()?;
        let server = ApiServer::build(&settings, engine.engine(), clock).await?;
        announce(&server);
        server.run_until(stop).await?;
        Ok(())
    });
    engine.finish();
    served
}

#[expect(clippy::print_stdout, reason = "whoever started the process reads its address there")]
fn announce(server: &ApiServer) {
    println!("http://{}", server.address());
}
