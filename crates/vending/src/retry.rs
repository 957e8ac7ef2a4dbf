//! Retry: settles a confirm whose answer was lost, and never charges twice.

use clock::Monotonic;
use database::DatabaseError;
use purchase::{Authority, Record, ResolveAnswer, StateName};
use store::{ClosingOutcome, RetryKey};
use traces::RequestTrace;
use vend::{Product, SubscriberIdentifier};

use crate::{RetryError, Service, Vending, resolve::Resolved};

/// The purchases among which a retry searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryScope {
    /// All products: the versioned surface.
    AnyProduct,
    /// Electricity only: the Current surface.
    ElectricityOnly,
}

/// Which purchase is asked about (specification, section 4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryQuestion {
    /// As in the confirm.
    pub subscriber: SubscriberIdentifier,
    /// As in the confirm.
    pub external_reference: String,
    /// The purchases among which to search.
    pub scope: RetryScope,
}

impl Vending {
    /// The outcome of the newest purchase of this reference. It is settled where evidence allows. The trace of that purchase is left
    /// in `trace`.
    pub async fn retry(
        &self,
        authority: Authority,
        question: RetryQuestion,
        trace: RequestTrace,
    ) -> Result<Box<Record>, RetryError> {
        let vending = self.clone();
        let resolved =
            self.0.engine.run(async move { vending.0.settle_retry(authority, question, trace).await });
        let Ok(Ok(Settled { outcome, closing_since })) =
            tokio::time::timeout(self.0.settings.longest_wait(), resolved).await
        else {
            return Err(RetryError::Unreachable(self.0.nothing_is_known()));
        };
        // The reference rests from the time of its closing. A process that was paused since then must not give an
        // answer that may be out of date.
        let is_stale = closing_since.is_some_and(|since| {
            self.0.clock.monotonic().elapsed_since(since) > self.0.settings.timing().reference_rest / 2
        });
        if is_stale { Err(RetryError::Unreachable(self.0.nothing_is_known())) } else { outcome }
    }
}

/// The result of a retry.
struct Settled {
    outcome: Result<Box<Record>, RetryError>,
    /// When the closing of the reference began, if the answer says that nothing was bought under it.
    closing_since: Option<Monotonic>,
}

impl Service {
    async fn settle_retry(
        &self,
        authority: Authority,
        question: RetryQuestion,
        trace: RequestTrace,
    ) -> Settled {
        let mut began = self.clock.monotonic();
        let outcome = self.settled(authority, question, &mut began, &trace).await;
        let closing_since = match &outcome {
            Err(RetryError::NotFound | RetryError::Failed(_)) => Some(began),
            Ok(_) | Err(_) => None,
        };
        Settled { outcome, closing_since }
    }

    /// Sets `closing_since` to the time at which the last closing of the reference began.
    async fn settled(
        &self,
        authority: Authority,
        question: RetryQuestion,
        closing_since: &mut Monotonic,
        trace: &RequestTrace,
    ) -> Result<Box<Record>, RetryError> {
        let key = RetryKey {
            organisation: authority.organisation,
            subscriber: question.subscriber,
            external_reference: question.external_reference,
            product: match question.scope {
                RetryScope::AnyProduct => None,
                RetryScope::ElectricityOnly => Some(Product::Electricity),
            },
        };
        let found = self.store.find_for_retry(key.clone()).await;
        let found = self.answered(found, "a purchase to be retried could not be read")?;
        let mut found = found.ok_or(RetryError::NotFound)?;
        loop {
            trace.about(&self.trace_of(&found.record));
            if found.record.lifecycle.state.name().is_open() && !found.retries_enabled {
                return Err(RetryError::Disabled);
            }
            let Resolved { answer, recovery } = self.resolve_found(&found).await;
            let recovery = recovery.unwrap_or_else(|| self.nothing_is_known());
            match answer {
                ResolveAnswer::Pending => return Err(RetryError::Pending(recovery)),
                ResolveAnswer::Unreachable => return Err(RetryError::Unreachable(recovery)),
                ResolveAnswer::Final => {}
            }
            let record = self.as_it_ended(found.record).await?;
            let Some(outcome) = outcome_of(record.lifecycle.state.name()) else {
                return Err(RetryError::Pending(record.recovery.unwrap_or(recovery)));
            };
            // A final answer must stay true. If a later purchase was quicker, the answer is about that one.
            *closing_since = self.clock.monotonic();
            let newer = self.store.close_reference(key.clone(), record.id, outcome).await;
            match (self.answered(newer, "a reference could not be closed")?, outcome) {
                (Some(newer), _) => found = newer,
                (None, ClosingOutcome::Bought) => return Ok(Box::new(record)),
                (None, ClosingOutcome::NotBought) => return Err(RetryError::Failed(Box::new(record))),
            }
        }
    }

    /// The record of a purchase that has ended: as it was found, if it had already ended.
    async fn as_it_ended(&self, found: Record) -> Result<Record, RetryError> {
        if !found.lifecycle.state.name().is_open() {
            return Ok(found);
        }
        let record = self.store.get_record(found.id).await;
        self.answered(record, "a purchase could not be read back")
    }

    /// The result of the store. A fault of ours leaves the question as open as a silent provider does. A full queue
    /// causes no doubt about the purchase.
    fn answered<T>(&self, said: Result<T, DatabaseError>, what: &'static str) -> Result<T, RetryError> {
        said.map_err(|error| {
            let cause: &dyn std::error::Error = &error;
            tracing::error!(cause, "{what}");
            if matches!(error, DatabaseError::Busy { .. }) {
                RetryError::Overloaded
            } else if matches!(error, DatabaseError::TokenUnreadable { .. }) {
                RetryError::TokenUnreadable(self.a_person_must_act())
            } else {
                RetryError::Unreachable(self.nothing_is_known())
            }
        })
    }
}

/// The outcome that a final answer reports. `None` while there is no final answer.
const fn outcome_of(state: StateName) -> Option<ClosingOutcome> {
    match state {
        StateName::Successful => Some(ClosingOutcome::Bought),
        StateName::Failed => Some(ClosingOutcome::NotBought),
        StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => None,
    }
}
