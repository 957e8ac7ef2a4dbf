//! Our float at the providers: what is left of the money that we have prepaid there. The worker asks for it at intervals, where the
//! protocol has a question for it; some providers mention it in their answers to vends, and each process stores that. No
//! purchase waits for it, and none is refused because of it.

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use clock::{Monotonic, SharedClock};
use database::DatabaseError;
use money::Money;
use provider::Provider;

use crate::{Service, Vending};

/// The interval at which a process stores what providers have mentioned. A provider mentions our float in each vend.
const MENTIONED_EVERY: Duration = Duration::from_secs(30);

/// Without it, one question to the database that hangs would stop the storing.
const STORED_WITHIN: Duration = Duration::from_secs(10);

/// What a provider has mentioned last of our float, and when, until it is stored.
#[derive(Debug, Default)]
pub(crate) struct MentionedFloat(Mutex<Option<(Money, Monotonic)>>);

impl MentionedFloat {
    /// Takes what the provider has mentioned. Two callers do it one after the other, so that what is kept is the later.
    pub(crate) fn hear(&self, provider: &dyn Provider, clock: &SharedClock) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = provider.mentioned_float() {
            *heard = Some((left, clock.monotonic()));
        }
    }

    fn take(&self) -> Option<(Money, Monotonic)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The same of all providers, by their codes.
#[derive(Debug, Default)]
pub(crate) struct MentionedFloats(Vec<(String, Arc<MentionedFloat>)>);

impl MentionedFloats {
    pub(crate) fn add(&mut self, provider_code: &str) -> Arc<MentionedFloat> {
        let float = Arc::default();
        self.0.push((provider_code.to_owned(), Arc::clone(&float)));
        float
    }
}

impl Vending {
    /// Begins to store what providers mention of our float in their answers to this process's vends, as long as the service exists.
    pub fn note_floats_from_now_on(&self) {
        let service = Arc::downgrade(&self.0);
        self.0.engine.runtime().spawn(note_floats(service));
    }

    /// Stores at once what was mentioned. For callers that work step by step.
    ///
    /// # Errors
    /// The error of the database. What was mentioned is lost then, until the next vend.
    pub async fn note_floats(&self) -> Result<(), DatabaseError> {
        self.0.note_floats().await
    }

    /// Asks each provider for our float there, and stores the answers. A provider that has told it within half of `every`,
    /// for example to another worker, is not asked again. One whose protocol does not tell it is left out.
    ///
    /// # Errors
    /// The error of the database. A provider that does not answer is only logged.
    pub async fn ask_for_floats(&self, every: Duration) -> Result<(), DatabaseError> {
        let database = self.0.store.database();
        let known = catalogue::list_floats(database).await?;
        for (code, provider) in &self.0.providers {
            let age =
                known.iter().filter(|float| float.provider_code == *code).filter_map(|float| float.age).min();
            if age.is_some_and(|age| age < every / 2) {
                continue;
            }
            let call = match self.0.numbers.call(&self.0.store, code, self.0.clock.monotonic()).await {
                Ok(call) => call,
                Err(error) => {
                    let cause: &dyn std::error::Error = &error;
                    tracing::warn!(cause, provider = code, "our float could not be asked for");
                    continue;
                }
            };
            match provider.float(call).await {
                Ok(Some(left)) => self.0.record_float(code, left, self.0.clock.monotonic()).await?,
                Ok(None) => {}
                Err(unanswered) => {
                    tracing::warn!(
                        provider = code,
                        ?unanswered,
                        "a provider did not report our float, the balance that we hold there"
                    );
                }
            }
        }
        Ok(())
    }
}

impl Service {
    async fn note_floats(&self) -> Result<(), DatabaseError> {
        for (code, float) in &self.floats.0 {
            if let Some((left, at)) = float.take() {
                self.record_float(code, left, at).await?;
            }
        }
        Ok(())
    }

    /// Stores what a provider said at a moment.
    async fn record_float(&self, code: &str, left: Money, at: Monotonic) -> Result<(), DatabaseError> {
        let clock = Arc::clone(&self.clock);
        let age = move || clock.monotonic().elapsed_since(at);
        catalogue::record_float(self.store.database(), code.to_owned(), left, age).await
    }
}

/// Ends when the service is gone.
async fn note_floats(service: Weak<Service>) {
    loop {
        tokio::time::sleep(MENTIONED_EVERY).await;
        let Some(service) = service.upgrade() else { return };
        match tokio::time::timeout(STORED_WITHIN, service.note_floats()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let cause: &dyn std::error::Error = &error;
                tracing::warn!(cause, "our floats that providers mentioned could not be stored");
            }
            Err(_elapsed) => tracing::warn!("our floats that providers mentioned were not stored in time"),
        }
    }
}
