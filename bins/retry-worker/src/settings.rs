//! The sum of what the rooms want to be told.

use std::collections::HashMap;

use boot::{ObserveSettings, Review, TelemetrySettings};
use clock::SharedClock;
use connections::ProviderSettings;
use notify::NotifySettings;
use serde::Deserialize;
use serde::de::IgnoredAny;
use store::{SealingSettings, StoreSettings};
use vending::{VendingSettings, WorkerSettings};

use crate::RoundSettings;

/// Everything a worker is told. It may read the same file as the server, whose own parts it passes over.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How it works.
    #[serde(default)]
    pub worker: WorkerSettings,
    /// How often it counts what waits, checks the books, and clears away.
    #[serde(default)]
    pub rounds: RoundSettings,
    /// The messages that people get.
    #[serde(default)]
    pub notify: NotifySettings,
    /// The database.
    pub store: StoreSettings,
    /// The keys that seal tokens at rest.
    pub sealing: SealingSettings,
    /// How long everything may take: the same as the server is told.
    #[serde(default)]
    pub vending: VendingSettings,
    /// The connections to providers, by their code: the same as the server is given.
    #[serde(default)]
    pub providers: HashMap<String, ProviderSettings>,
    /// Threads on which money moves.
    #[serde(default = "two")]
    pub engine_threads: usize,
    /// What the process says about itself.
    #[serde(default)]
    pub telemetry: TelemetrySettings,
    /// Where whoever watches it may ask; not where the server is watched.
    #[serde(default = "beside_the_server")]
    pub observe: ObserveSettings,
    /// For the server alone.
    #[serde(default)]
    pub http: Option<IgnoredAny>,
    /// For the server alone.
    #[serde(default)]
    pub web: Option<IgnoredAny>,
    /// For the server alone.
    #[serde(default)]
    pub identity: Option<IgnoredAny>,
    /// For `api-server migrate` alone.
    #[serde(default)]
    pub migrate: Option<IgnoredAny>,
    /// For `vendctl` alone.
    #[serde(default)]
    pub operator: Option<IgnoredAny>,
}

impl Settings {
    /// Checks every section. The process must have chosen its TLS provider.
    pub(crate) fn review(&self, clock: &SharedClock, review: &mut Review) {
        review.section("worker", || self.worker.checked());
        review.section("notify", || self.notify.checked());
        review.section("store", || self.store.checked());
        review.section("sealing", || self.sealing.keys().map(drop));
        let timing = self.vending.timing();
        review.section("vending", || timing.checked().map(drop));
        connections::review(&self.providers, timing.provider_timeout, clock, |key, error| {
            review.sections(&[key, "vending"], || Err(error));
        });
        review.section("telemetry", || self.telemetry.checked());
        review.section("observe", || self.observe.checked());
    }
}

const fn two() -> usize {
    2
}

fn beside_the_server() -> ObserveSettings {
    ObserveSettings::on_port(9465)
}
