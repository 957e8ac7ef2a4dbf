//! Settings, telemetry and graceful stop: what every binary does before and after its own work.
//!
//! ```no_run
//! use boot::{TelemetrySettings, load, stop_requested, telemetry};
//!
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Settings {
//!     #[serde(default)]
//!     telemetry: TelemetrySettings,
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let settings: Settings = load(None)?;
//! telemetry::start(&settings.telemetry)?;
//! let stop = stop_requested()?;
//! // Serve …
//! stop.await;
//! // … and drain.
//! # Ok(())
//! # }
//! ```

mod settings;
mod stop;
pub mod telemetry;

pub use settings::{SettingsError, load};
pub use stop::stop_requested;
pub use telemetry::{LogFormat, TelemetryError, TelemetrySettings};
