//! The use cases: quote, trial, confirm, retry, and the reads around them.
//!
//! This crate runs the protocols of `purchase` over the store and the providers. Everything that moves money runs on
//! the engine, a runtime that no HTTP server can cancel. The caller only waits for the result.

mod admission;
mod answers;
mod arrival;
mod backoff;
mod batch_work;
mod batches;
mod breakers;
mod calls;
mod catalogue;
mod certificates;
mod confirm;
mod customer;
mod due_since;
mod engine;
mod events;
mod floats;
mod leases;
mod line_failures;
mod measured;
mod measures;
mod outcome;
mod pricing;
mod quote;
mod reads;
mod refusals;
mod refused_confirms;
mod repeats;
mod replay;
mod resolve;
mod retry;
mod settings;
mod slots;
mod spans;
mod webhooks;
mod work;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use chrono::DateTime;
use chrono_tz::Tz;
use clock::SharedClock;
use feed::Feed;
use provider::Provider;
use purchase::TimingError;
use store::Store;
use tokio::sync::Semaphore;

pub use arrival::{Arrival, CallerConnection};
pub use batch_store::{
    Batch, BatchId, BatchStatus, Change, Line, LineState, NewBatch, OPEN_BATCHES_MAX, PausedBecause,
    REFERENCE_MAX, Share,
};
pub use batches::{BatchChangeError, BatchError};
pub use certificates::CertificateKeys;
pub use engine::{Engine, EngineRuntime};
pub use line_failures::LineFailure;
pub use measures::describe_metrics;
pub use quote::Quote;
pub use reads::{PauseListing, ProductListing, ProviderListing};
pub use refusals::{ConfirmError, PauseEnd, ReadError, Rejection, RetryError};
pub use replay::Confirmed;
pub use retry::{RetryQuestion, RetryScope};
pub use settings::{
    BadCertificateSettings, BadNetwork, BadTimeZone, CertificateSettings, VendingSettings, WebhookSettings,
    WorkerSettings,
};
pub use store::RepeatedMessage;
pub use traces::{RequestTrace, Traces};
pub use webhook_store::{Again, Asked, AttemptRecord};
pub use webhooks::WebhookError;
pub use work::WorkDone;

use breakers::Counted;
use calls::Numbers;
use catalogue::Catalogues;
use customer::PassedChecks;
use floats::MentionedFloats;
use leases::Leases;
use refused_confirms::RefusedConfirms;

/// Connections to providers, by the code of the catalogue.
pub type Providers = HashMap<String, Arc<dyn Provider>>;

/// The service behind all surfaces. Clones are handles to the same service.
#[derive(Clone)]
pub struct Vending(Arc<Service>);

struct Service {
    store: Store,
    feed: Feed,
    providers: Providers,
    clock: SharedClock,
    engine: Engine,
    settings: VendingSettings,
    zone: Tz,
    catalogues: Catalogues,
    passed_checks: PassedChecks,
    numbers: Numbers,
    refused_confirms: RefusedConfirms,
    leases: Arc<Leases>,
    counted: Counted,
    floats: MentionedFloats,
    traces: Traces,
    /// For the reads of purchases that block other confirms.
    reads_of_blocking: Semaphore,
}

/// The maximum number of concurrent reads of purchases that block other confirms.
const READS_OF_BLOCKING_MAX: usize = 4;

impl Vending {
    /// Creates the service over a store and connections to providers.
    ///
    /// `zone` is the service's own time zone. The year and month in a purchase's reference are in this zone. What is done for a
    /// purchase is reported to `traces`.
    ///
    /// # Errors
    /// [`TimingError`] when the time chain is out of order.
    pub fn new(
        store: Store,
        providers: Providers,
        clock: SharedClock,
        engine: Engine,
        settings: VendingSettings,
        zone: Tz,
        traces: Traces,
    ) -> Result<Self, TimingError> {
        let timing = settings.timing().checked()?;
        let leases = Leases::new(clock.clone());
        leases.keep(store.clone(), timing.renewal(), engine.runtime());
        let (mut counted, mut floats) = (Counted::default(), MentionedFloats::default());
        let providers = measured::measured(providers, &mut counted, &mut floats, &clock);
        Ok(Self(Arc::new(Service {
            catalogues: Catalogues::new(settings.catalogue_reuse()),
            passed_checks: PassedChecks::new(settings.check_reuse()),
            numbers: Numbers::default(),
            refused_confirms: RefusedConfirms::default(),
            leases,
            traces,
            reads_of_blocking: Semaphore::new(READS_OF_BLOCKING_MAX),
            feed: events::feed_of(&store),
            store,
            providers,
            counted,
            floats,
            clock,
            engine,
            settings,
            zone,
        })))
    }
}

impl Service {
    /// Now, in the service's time zone.
    fn local_time(&self) -> DateTime<Tz> {
        self.clock.now().with_timezone(&self.zone)
    }

    /// The connection to the provider of this code.
    fn provider(&self, code: &str) -> Option<&Arc<dyn Provider>> {
        let provider = self.providers.get(code);
        if provider.is_none() {
            tracing::error!(provider = code, "the catalogue offers a provider that has no connection");
        }
        provider
    }
}

impl fmt::Debug for Vending {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Vending").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}
