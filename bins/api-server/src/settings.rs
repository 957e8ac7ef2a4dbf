//! The settings of the server: the sections of all crates that it uses.

use std::collections::HashMap;

use boot::{ObserveSettings, Review, TelemetrySettings};
use clock::SharedClock;
use database::DatabaseSettings;
use identity::IdentitySettings;
use provider_registry::ProviderSettings;
use serde::{Deserialize, de::IgnoredAny};
use store::SealingSettings;
use traces::TraceSettings;
use vending::{CertificateSettings, VendingSettings, WebhookSettings};
use web::WebSettings;

/// All settings of a server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The listener.
    #[serde(default)]
    pub http: HttpSettings,
    /// What the surfaces share.
    #[serde(default)]
    pub web: WebSettings,
    /// The database.
    pub store: DatabaseSettings,
    /// The keys that seal tokens at rest.
    pub sealing: SealingSettings,
    /// Authentication of clients.
    pub identity: IdentitySettings,
    /// The time limits of a purchase.
    #[serde(default)]
    pub vending: VendingSettings,
    /// Where the webhook endpoints of integrators may be.
    #[serde(default)]
    pub webhooks: WebhookSettings,
    /// The key that signs certificates of outcomes.
    #[serde(default)]
    pub certificates: CertificateSettings,
    /// The connections to providers, by their code.
    #[serde(default)]
    pub providers: HashMap<String, ProviderSettings>,
    /// Threads that run the money transactions.
    #[serde(default = "two")]
    pub engine_threads: usize,
    /// The log.
    #[serde(default)]
    pub telemetry: TelemetrySettings,
    /// The monitoring listener.
    #[serde(default)]
    pub observe: ObserveSettings,
    /// Traces of purchases: the same in every program.
    #[serde(default)]
    pub traces: TraceSettings,
    /// For the worker only, which may read the same file.
    #[serde(default)]
    pub worker: Option<IgnoredAny>,
    /// For the worker only.
    #[serde(default)]
    pub rounds: Option<IgnoredAny>,
    /// For the worker only.
    #[serde(default)]
    pub webhook_delivery: Option<IgnoredAny>,
    /// For the worker only.
    #[serde(default)]
    pub notify: Option<IgnoredAny>,
    /// For `api-server migrate` only, which may read the same file.
    #[serde(default)]
    pub migrate: Option<IgnoredAny>,
    /// For the worker only.
    #[serde(default)]
    pub retention: Option<IgnoredAny>,
    /// For the worker only.
    #[serde(default)]
    pub feed: Option<IgnoredAny>,
    /// For `vendctl` only, which may read the same file.
    #[serde(default)]
    pub operator: Option<IgnoredAny>,
}

impl Settings {
    /// Checks every section. The process must have chosen its TLS provider before.
    pub(crate) fn review(&self, clock: &SharedClock, review: &mut Review) {
        review.zeros("", (self.engine_threads == 0).then_some("engine_threads"));
        review.section("http", || boot::check_listen_address(&self.http.listen));
        review.zeros("http", self.http.zeros());
        review.section("web", || self.web.checked());
        review.zeros("web", self.web.zeros());
        review.section("webhooks", || self.webhooks.rules().map(drop));
        review.section("certificates", || self.certificates.keys().map(drop));
        review.section("store", || self.store.checked());
        review.zeros("store", self.store.zeros());
        review.section("sealing", || self.sealing.keys().map(drop));
        review.section("identity", || self.identity.checked());
        review.zeros("identity", self.identity.zeros());
        let timing = self.vending.timing();
        review.section("vending", || timing.checked().map(drop));
        review.zeros("vending", self.vending.zeros());
        provider_registry::review(&self.providers, timing.provider_timeout, clock, |key, error| {
            review.sections(&[key, "vending"], || Err(error));
        });
        review.section("telemetry", || self.telemetry.checked());
        review.section("observe", || self.observe.checked());
        review.section("traces", || self.traces.checked());
        review.zeros("traces", self.traces.zeros());
    }
}

/// Its address, its threads, and how it starts and stops.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpSettings {
    /// The address and the port on which the server listens. Port 0 takes a free port.
    pub listen: String,
    /// Threads that parse requests and render answers.
    pub workers: usize,
    /// How many connections are open at once, over all workers. More wait in the kernel's queue.
    pub connections_max: usize,
    /// How long an idle connection is kept open, in seconds. Longer than a proxy in front of the server keeps it.
    pub keep_alive_s: u64,
    /// How long a request head may take to arrive, in milliseconds.
    pub head_within_ms: u64,
    /// After the request to stop: how long a server reports itself as not ready and still accepts requests, in
    /// milliseconds. A load balancer needs this time to notice.
    pub stop_notice_ms: u64,
    /// How long requests under way have to end, in seconds, and after them the engine as long again. Then the process ends.
    pub drain_s: u64,
}

impl HttpSettings {
    /// The names of the settings that are zero and must not be.
    fn zeros(&self) -> impl Iterator<Item = &'static str> {
        let lengths = [
            ("workers", self.workers == 0),
            ("connections_max", self.connections_max == 0),
            ("head_within_ms", self.head_within_ms == 0),
        ];
        lengths.into_iter().filter_map(|(name, is_zero)| is_zero.then_some(name))
    }
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
            // The time for one vend, and thirty seconds to settle it.
            drain_s: 150,
        }
    }
}

const fn two() -> usize {
    2
}
