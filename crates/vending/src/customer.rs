//! The provider's read-only check: the customer's data, and whether the customer may buy this much now.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use clock::Monotonic;
use money::Money;
use provider::Provider;
use purchase::PurchaseRequest;
use vend::{Customer, Product, RefusalReason, SubscriberIdentifier, Unanswered};

use crate::{Rejection, Service};

/// The maximum number of cached checks. When the cache is full, expired checks are removed first.
const REMEMBERED_MAX: usize = 10_000;

type Key = (String, Product, SubscriberIdentifier);

/// Checks that passed recently.
#[derive(Debug)]
pub(crate) struct PassedChecks {
    reuse: Duration,
    recent: Mutex<HashMap<Key, (Monotonic, Customer)>>,
}

impl PassedChecks {
    pub(crate) fn new(reuse: Duration) -> Self {
        Self { reuse, recent: Mutex::default() }
    }

    fn recent(&self, key: &Key, now: Monotonic) -> Option<Customer> {
        let recent = self.recent.lock().expect(UNPOISONED);
        let (asked, customer) = recent.get(key)?;
        (now.elapsed_since(*asked) < self.reuse).then(|| customer.clone())
    }

    fn remember(&self, key: Key, now: Monotonic, customer: Customer) {
        let mut recent = self.recent.lock().expect(UNPOISONED);
        if recent.len() >= REMEMBERED_MAX {
            recent.retain(|_, (asked, _)| now.elapsed_since(*asked) < self.reuse);
        }
        if recent.len() < REMEMBERED_MAX {
            recent.insert(key, (now, customer));
        }
    }
}

const UNPOISONED: &str = "nothing panics while it holds this lock";

impl Service {
    /// The customer, if it may buy `net` now. A check that passed within the last minute is used again, and its
    /// limits are applied again.
    pub(crate) async fn admit_customer(
        &self,
        provider: &dyn Provider,
        request: &PurchaseRequest,
        net: Money,
    ) -> Result<Customer, Rejection> {
        let key = (request.provider_code.clone(), request.product, request.subscriber.clone());
        let now = self.clock.monotonic();
        if let Some(customer) = self.passed_checks.recent(&key, now) {
            within_limits(&customer, net)?;
            return Ok(customer);
        }
        let customer = self.ask_about(provider, request).await?;
        within_limits(&customer, net)?;
        self.passed_checks.remember(key, now, customer.clone());
        Ok(customer)
    }

    async fn ask_about(
        &self,
        provider: &dyn Provider,
        request: &PurchaseRequest,
    ) -> Result<Customer, Rejection> {
        let call = self.call_id(&request.provider_code).await?;
        let customer = provider.check(call, request.product, &request.subscriber).await;
        let not_admitted = Rejection::of_check(&request.provider_code);
        match customer {
            Err(unanswered) => Err(not_admitted(unanswered)),
            Ok(Customer { barred: Some(refusal), .. }) => Err(not_admitted(Unanswered::Refused(refusal))),
            Ok(customer) => Ok(customer),
        }
    }

    /// A fresh id for a call. It is logged if the database gives none.
    pub(crate) async fn call_id(&self, provider_code: &str) -> Result<vend::CallId, Rejection> {
        let call = self.numbers.call(&self.store, provider_code, self.clock.monotonic()).await;
        call.map_err(|error| {
            let cause: &dyn std::error::Error = &error;
            tracing::error!(cause, provider = provider_code, "no call id could be taken");
            error.into()
        })
    }
}

fn within_limits(customer: &Customer, net: Money) -> Result<(), Rejection> {
    let beyond = |limit: &Money, side| net.compare(*limit) == Ok(side);
    if let Some(limit) = customer.minimum.filter(|limit| beyond(limit, Ordering::Less)) {
        return Err(Rejection::Limit { reason: RefusalReason::BelowMinimum, limit });
    }
    if let Some(limit) = customer.maximum.filter(|limit| beyond(limit, Ordering::Greater)) {
        return Err(Rejection::Limit { reason: RefusalReason::AboveMaximum, limit });
    }
    Ok(())
}
