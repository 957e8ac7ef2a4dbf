//! The operators' console in a browser: pages over the commands of `vendctl`.
//!
//! It has no rights and no rules of its own. An operator signs in with a link that `vendctl` prints, or with an account at an OpenID
//! provider. From then on every page is a command that runs on a connection with that person's own login, so the database says what
//! is allowed, and whose act it is.

mod chart;
mod cookie;
mod fields;
mod layout;
mod openid;
mod page_error;
mod pages;
mod reader;
mod render;
mod server;
mod sessions;
mod settings;
mod text;
mod translator;
mod visit;
mod words;

use std::{path::Path, sync::Arc};

use boot::SettingsError;
use clock::{SharedClock, SystemClock};
use tokio::runtime::Builder;

pub use server::{Console, ServeError};
pub use settings::{ConsoleSettings, OpenIdSettings, Settings};

/// Threads that talk to the database. People are few, and wait for it anyway.
const ENGINE_THREADS: usize = 2;

/// The whole program: `console [--check-settings] [settings.toml]`.
///
/// # Errors
/// What prevented serving, with its causes, or all mistakes of the settings.
pub fn main(arguments: impl IntoIterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = arguments.into_iter().peekable();
    let only_checks = arguments.next_if(|argument| argument == boot::CHECK_SETTINGS).is_some();
    let file = arguments.next();
    let settings = load(file.as_deref().map(Path::new))?;
    if only_checks {
        boot::say_settings_are_valid();
        return Ok(());
    }
    serve(settings, Arc::new(SystemClock))
}

/// Reads and checks the settings, as `--check-settings` does.
///
/// # Errors
/// When the file cannot be read. Otherwise with all mistakes at once.
pub fn load(file: Option<&Path>) -> Result<Settings, SettingsError> {
    boot::load_checked(file, |settings: &Settings, review| settings.review(review))
}

fn serve(settings: Settings, clock: SharedClock) -> Result<(), Box<dyn std::error::Error>> {
    boot::telemetry::start(&settings.telemetry)?;
    let engine = Builder::new_multi_thread().worker_threads(ENGINE_THREADS).enable_all().build()?;
    actix_web::rt::System::new().block_on(async {
        let stop = boot::stop_requested()?;
        let console = Console::build(settings, engine.handle().clone(), clock).await?;
        announce(&console);
        console.run_until(stop).await?;
        Ok(())
    })
}

#[expect(clippy::print_stdout, reason = "the parent process reads the address there")]
fn announce(console: &Console) {
    println!("http://{}", console.address());
}
