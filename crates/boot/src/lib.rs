//! Settings, telemetry, metrics, health and graceful stop: what every binary needs besides its own work.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use boot::{ObserveSettings, Observatory, TelemetrySettings, load, metrics, panics, stop_requested, telemetry};
//! use clock::SystemClock;
//!
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Settings {
//!     #[serde(default)]
//!     telemetry: TelemetrySettings,
//!     #[serde(default)]
//!     observe: ObserveSettings,
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let settings: Settings = load(None)?;
//! telemetry::start(&settings.telemetry)?;
//! let metrics = metrics::start(panics::describe_metrics)?;
//! let can_work = || async { Ok::<(), String>(()) };
//! let observatory = Observatory::start(&settings.observe, &metrics, Arc::new(SystemClock), can_work)?;
//! let stop = stop_requested()?;
//! // Serve …
//! stop.await;
//! observatory.stopping();
//! // … and drain.
//! # Ok(())
//! # }
//! ```

mod exit;
mod listen;
pub mod metrics;
pub mod observe;
pub mod panics;
mod settings;
mod stop;
pub mod telemetry;

pub use exit::exit_code;
pub use listen::{BadListenAddress, check_listen_address};
pub use metrics::{Metrics, MetricsError};
pub use observe::{Observatory, ObserveError, ObserveSettings};
pub use settings::{
    CHECK_SETTINGS, Mistake, MistakeKind, Review, SettingsError, load, load_checked, load_parts,
    say_settings_are_valid,
};
pub use stop::stop_requested;
pub use telemetry::{LogFormat, TelemetryError, TelemetrySettings};
