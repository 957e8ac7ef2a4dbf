//! The settings of the worker: the sections of all crates that it uses.

use std::collections::HashMap;

use back_office::{FeedSettings, RetentionSettings};
use boot::{ObserveSettings, Review, TelemetrySettings};
use clock::SharedClock;
use database::DatabaseSettings;
use notify::NotifySettings;
use provider_registry::ProviderSettings;
use serde::{Deserialize, de::IgnoredAny};
use store::SealingSettings;
use traces::TraceSettings;
use vending::{VendingSettings, WebhookSettings, WorkerSettings};
use webhook_delivery::DeliverySettings;

use crate::RoundSettings;

/// All settings of a worker. It may read the same file as the server, and ignores the server's own sections.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The pace of its work.
    #[serde(default)]
    pub worker: WorkerSettings,
    /// The intervals of the periodic tasks.
    #[serde(default)]
    pub rounds: RoundSettings,
    /// How long data of purchases that have ended is kept.
    #[serde(default)]
    pub retention: RetentionSettings,
    /// The feed of what happened, which integrators read.
    #[serde(default)]
    pub feed: FeedSettings,
    /// The messages that people receive.
    #[serde(default)]
    pub notify: NotifySettings,
    /// The delivery of events to webhook endpoints.
    #[serde(default)]
    pub webhook_delivery: DeliverySettings,
    /// The database.
    pub store: DatabaseSettings,
    /// The keys that seal tokens at rest.
    pub sealing: SealingSettings,
    /// The time limits of a purchase: the same as the server's.
    #[serde(default)]
    pub vending: VendingSettings,
    /// Where the webhook endpoints of integrators may be: the same as the server's.
    #[serde(default)]
    pub webhooks: WebhookSettings,
    /// The connections to providers, by their code: the same as the server's.
    #[serde(default)]
    pub providers: HashMap<String, ProviderSettings>,
    /// Threads that run the money transactions.
    #[serde(default = "two")]
    pub engine_threads: usize,
    /// The log.
    #[serde(default)]
    pub telemetry: TelemetrySettings,
    /// The monitoring listener. Its address differs from the server's.
    #[serde(default = "default_observe")]
    pub observe: ObserveSettings,
    /// Traces of purchases: the same in every program.
    #[serde(default)]
    pub traces: TraceSettings,
    /// For the server only.
    #[serde(default)]
    pub http: Option<IgnoredAny>,
    /// For the server only.
    #[serde(default)]
    pub web: Option<IgnoredAny>,
    /// For the server only.
    #[serde(default)]
    pub identity: Option<IgnoredAny>,
    /// For the server only.
    #[serde(default)]
    pub certificates: Option<IgnoredAny>,
    /// For `api-server migrate` only.
    #[serde(default)]
    pub migrate: Option<IgnoredAny>,
    /// For `vendctl` only.
    #[serde(default)]
    pub operator: Option<IgnoredAny>,
}

impl Settings {
    /// Checks every section. The process must have chosen its TLS provider before.
    pub(crate) fn review(&self, clock: &SharedClock, review: &mut Review) {
        review.zeros("", (self.engine_threads == 0).then_some("engine_threads"));
        review.zeros("worker", self.worker.zeros());
        review.section("worker", || self.worker.zone().map(drop));
        review.zeros("rounds", self.rounds.zeros());
        review.section("feed", || self.feed.checked());
        review.section("notify", || self.notify.checked());
        review.zeros("notify", self.notify.zeros());
        review.section("webhooks", || self.webhooks.rules().map(drop));
        review.section("webhook_delivery", || self.webhook_delivery.checked());
        review.zeros("webhook_delivery", self.webhook_delivery.zeros());
        review.section("store", || self.store.checked());
        review.zeros("store", self.store.zeros());
        review.section("sealing", || self.sealing.keys().map(drop));
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

const fn two() -> usize {
    2
}

fn default_observe() -> ObserveSettings {
    ObserveSettings::on_port(9465)
}
