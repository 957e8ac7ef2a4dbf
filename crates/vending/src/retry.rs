//! Retry: settles a confirm whose answer was lost, and never charges twice.

use purchase::{Authority, Record, ResolveAnswer, StateName};
use store::{ForRetry, RetryKey};
use vend::{Product, SubscriberIdentifier};

use crate::refusals::internal;
use crate::{Desk, RetryError, Vending};

/// When asking again is worth while: a vend that takes its time takes tens of seconds.
const RETRY_AFTER_S: u32 = 5;

/// Among which purchases a retry looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryScope {
    /// All of them: the versioned surface.
    AnyProduct,
    /// Electricity: the Current surface.
    ElectricityOnly,
}

/// Which purchase is meant (specification, section 4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryQuestion {
    /// As in the confirm.
    pub subscriber: SubscriberIdentifier,
    /// As in the confirm.
    pub external_reference: String,
    /// Among which.
    pub scope: RetryScope,
}

impl Vending {
    /// What became of the newest purchase of this reference, settling it where evidence allows.
    pub async fn retry(
        &self,
        authority: Authority,
        question: RetryQuestion,
    ) -> Result<Box<Record>, RetryError> {
        let vending = self.clone();
        let resolved = self.0.engine.run(async move { vending.0.settle_retry(authority, question).await });
        match tokio::time::timeout(self.0.settings.longest_wait(), resolved).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_lost)) => Err(RetryError::Unreachable),
            Err(_elapsed) => Err(RetryError::Unreachable),
        }
    }
}

impl Desk {
    async fn settle_retry(
        &self,
        authority: Authority,
        question: RetryQuestion,
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
        let mut found = found
            .map_err(|error| internal("a purchase to be retried could not be read", &error))?
            .ok_or(RetryError::NotFound)?;
        loop {
            if found.record.life.state.name().is_open() && !found.retries_enabled {
                return Err(RetryError::Disabled);
            }
            match self.resolve_found(&found).await {
                ResolveAnswer::Final => match self.newer_than(&found, &key).await? {
                    Some(newer) => found = newer,
                    None => return self.final_answer(found).await,
                },
                ResolveAnswer::Pending => return Err(RetryError::Pending { retry_after_s: RETRY_AFTER_S }),
                ResolveAnswer::Unreachable => return Err(RetryError::Unreachable),
            }
        }
    }

    /// A final answer must stay true: it closes the reference for every confirm that has begun by now, unless
    /// one of them was quicker and there is a newer purchase to answer about.
    async fn newer_than(&self, found: &ForRetry, key: &RetryKey) -> Result<Option<ForRetry>, RetryError> {
        let closed = self.store.close_reference(key.clone(), found.record.id).await;
        Ok(closed.map_err(|error| internal("a reference could not be closed", &error))?)
    }

    async fn final_answer(&self, found: ForRetry) -> Result<Box<Record>, RetryError> {
        let record = if found.record.life.state.name().is_open() {
            let record = self.store.get_record(found.record.id).await;
            record.map_err(|error| internal("a purchase could not be read back", &error))?
        } else {
            found.record
        };
        match record.life.state.name() {
            StateName::Successful => Ok(Box::new(record)),
            StateName::Failed => Err(RetryError::Failed(Box::new(record))),
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => {
                Err(RetryError::Pending { retry_after_s: RETRY_AFTER_S })
            }
        }
    }
}
