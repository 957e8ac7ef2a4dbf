//! The sum of what the rooms want to be told.

use std::collections::HashMap;

use boot::{ObserveSettings, Review, TelemetrySettings};
use clock::SharedClock;
use connections::ProviderSettings;
use identity::IdentitySettings;
use serde::Deserialize;
use serde::de::IgnoredAny;
use store::{SealingSettings, StoreSettings};
use vending::VendingSettings;
use web::WebSettings;

/// Everything a server is told.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where it listens.
    #[serde(default)]
    pub http: HttpSettings,
    /// What the surfaces share.
    #[serde(default)]
    pub web: WebSettings,
    /// The database.
    pub store: StoreSettings,
    /// The keys that seal tokens at rest.
    pub sealing: SealingSettings,
    /// Who may call.
    pub identity: IdentitySettings,
    /// How long everything may take.
    #[serde(default)]
    pub vending: VendingSettings,
    /// The connections to providers, by their code.
    #[serde(default)]
    pub providers: HashMap<String, ProviderSettings>,
    /// Threads on which money moves.
    #[serde(default = "two")]
    pub engine_threads: usize,
    /// What the process says about itself.
    #[serde(default)]
    pub telemetry: TelemetrySettings,
    /// Where whoever watches it may ask.
    #[serde(default)]
    pub observe: ObserveSettings,
    /// For the worker alone, which may read the same file.
    #[serde(default)]
    pub worker: Option<IgnoredAny>,
    /// For the worker alone.
    #[serde(default)]
    pub rounds: Option<IgnoredAny>,
    /// For the worker alone.
    #[serde(default)]
    pub notify: Option<IgnoredAny>,
    /// For `api-server migrate` alone, which may read the same file.
    #[serde(default)]
    pub migrate: Option<IgnoredAny>,
}

impl Settings {
    /// Checks every section. The process must have chosen its TLS provider.
    pub(crate) fn review(&self, clock: &SharedClock, review: &mut Review) {
        review.section("http", || boot::check_listen_address(&self.http.listen));
        review.section("web", || self.web.checked());
        review.section("store", || self.store.checked());
        review.section("sealing", || self.sealing.keys().map(drop));
        review.section("identity", || self.identity.checked());
        let timing = self.vending.timing();
        review.section("vending", || timing.checked().map(drop));
        connections::review(&self.providers, timing.provider_timeout, clock, |key, error| {
            review.sections(&[key, "vending"], || Err(error));
        });
        review.section("telemetry", || self.telemetry.checked());
        review.section("observe", || self.observe.checked());
    }
}

/// Where a server listens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpSettings {
    /// Address and port.
    pub listen: String,
    /// Threads that parse and render.
    pub workers: usize,
    /// How many connections are kept at once, over all workers. More wait in the kernel's queue.
    pub connections_max: usize,
    /// How long a silent connection is kept, in seconds; longer than a proxy in front keeps it.
    pub keep_alive_s: u64,
    /// How long a head may take to arrive, in milliseconds.
    pub head_within_ms: u64,
    /// How long a server that is told to stop says that it is not ready and still takes everything in, in milliseconds: for
    /// a balancer that must notice before it stops sending.
    pub stop_notice_ms: u64,
    /// How long requests under way and the engine have to end, in seconds, before the process does.
    pub drain_s: u64,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".to_owned(),
            workers: 2,
            connections_max: 4_000,
            keep_alive_s: 75,
            head_within_ms: 10_000,
            stop_notice_ms: 0,
            // One vend, and thirty seconds to settle it.
            drain_s: 150,
        }
    }
}

const fn two() -> usize {
    2
}
