//! The line to a provider: how long a connect takes, whether the gate is checked after it, and which calls
//! are delayed on it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use clock::ManualClock;
use money::Money;
use provider::scripted::{Latch, ScriptedProvider};
use provider::{Gate, Provider};
use vend::{
    Breakdown, CallId, Customer, Enquiry, Product, Quotation, Sale, SubscriberIdentifier, Unanswered, Vend,
    VendOrder, VendOutcome,
};

pub struct Line {
    utility: Arc<ScriptedProvider>,
    clock: ManualClock,
    connects_in_ms: AtomicU64,
    ignores_the_gate: AtomicBool,
    panics_on_the_next_answer: AtomicBool,
    next_split: Mutex<Option<Breakdown>>,
    next_check: Mutex<Option<Latch>>,
    enquiries: Mutex<Option<Latch>>,
    held_enquiries: AtomicUsize,
}

impl Line {
    /// A line that connects at once and checks the gate.
    pub fn to(utility: Arc<ScriptedProvider>, clock: ManualClock) -> Self {
        Self {
            utility,
            clock,
            connects_in_ms: AtomicU64::new(0),
            ignores_the_gate: AtomicBool::new(false),
            panics_on_the_next_answer: AtomicBool::new(false),
            next_split: Mutex::default(),
            next_check: Mutex::default(),
            enquiries: Mutex::default(),
            held_enquiries: AtomicUsize::new(0),
        }
    }

    /// Delays the next customer check until the latch is opened.
    pub fn holds_the_next_check(&self) -> Latch {
        let latch = Latch::closed();
        *self.next_check.lock().unwrap_or_else(PoisonError::into_inner) = Some(latch.clone());
        latch
    }

    /// Whether the check to be held has reached the line.
    pub fn is_holding_a_check(&self) -> bool {
        self.next_check.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Delays enquiries until the latch is opened.
    pub fn holds_enquiries(&self) -> Latch {
        let latch = Latch::closed();
        *self.enquiries.lock().unwrap_or_else(PoisonError::into_inner) = Some(latch.clone());
        latch
    }

    /// How many enquiries have been held.
    pub fn held_enquiries(&self) -> usize {
        self.held_enquiries.load(Ordering::Relaxed)
    }

    /// From now on this much time passes before an order can be sent.
    pub fn connects_in_ms(&self, length: u64) {
        self.connects_in_ms.store(length, Ordering::Relaxed);
    }

    /// The next answer to an order is lost in a panic, like a defect of an adapter.
    pub fn panics_on_the_next_answer(&self) {
        self.panics_on_the_next_answer.store(true, Ordering::Relaxed);
    }

    /// The next vend is answered with this split, like a defect of an adapter.
    pub fn splits_the_next_vend(&self, split: Breakdown) {
        *self.next_split.lock().unwrap_or_else(PoisonError::into_inner) = Some(split);
    }

    /// From now on orders are sent without a last check of the gate.
    pub fn ignores_the_gate(&self) {
        self.ignores_the_gate.store(true, Ordering::Relaxed);
    }
}

#[async_trait]
impl Provider for Line {
    async fn check(
        &self,
        call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered> {
        let latch = self.next_check.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(latch) = latch {
            latch.opened().await;
        }
        self.utility.check(call, product, subscriber).await
    }

    async fn quote(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.utility.quote(call, sale).await
    }

    async fn trial(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.utility.trial(call, sale).await
    }

    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        tracing::info!("an order leaves");
        self.clock.advance(Duration::from_millis(self.connects_in_ms.load(Ordering::Relaxed)));
        let always_open = Gate::while_true(|| true);
        let is_ignored = self.ignores_the_gate.load(Ordering::Relaxed);
        let answer = self.utility.vend(order, if is_ignored { &always_open } else { gate }).await;
        assert!(
            !self.panics_on_the_next_answer.swap(false, Ordering::Relaxed),
            "the defect that the test asked for"
        );
        let split = self.next_split.lock().unwrap_or_else(PoisonError::into_inner).take();
        match answer {
            VendOutcome::Vended(vend) if split.is_some() => {
                VendOutcome::Vended(Box::new(Vend { breakdown: split, ..*vend }))
            }
            answer @ (VendOutcome::Vended(_) | VendOutcome::Refused(_) | VendOutcome::Unknown(_)) => answer,
        }
    }

    async fn float(&self, call: CallId) -> Result<Option<Money>, Unanswered> {
        self.utility.float(call).await
    }

    fn mentioned_float(&self) -> Option<Money> {
        self.utility.mentioned_float()
    }

    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry {
        tracing::info!("an enquiry leaves");
        let latch = self.enquiries.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(latch) = latch.filter(|latch| !latch.is_open()) {
            self.held_enquiries.fetch_add(1, Ordering::Relaxed);
            latch.opened().await;
        }
        self.utility.enquire(call, order).await
    }
}
