//! The line to the provider: how long connecting takes, whether anybody looks at the gate afterwards, and which check lies
//! on it for a while.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use clock::ManualClock;
use provider::scripted::{Latch, ScriptedProvider};
use provider::{Gate, Provider};
use vend::{
    CallId, Customer, Enquiry, Product, Quotation, Sale, SubscriberIdentifier, Unanswered, VendOrder,
    VendOutcome,
};

pub struct Line {
    utility: Arc<ScriptedProvider>,
    clock: ManualClock,
    connects_in_ms: AtomicU64,
    ignores_the_gate: AtomicBool,
    next_check: Mutex<Option<Latch>>,
}

impl Line {
    /// A line that connects at once and looks at the gate.
    pub fn to(utility: Arc<ScriptedProvider>, clock: ManualClock) -> Self {
        Self {
            utility,
            clock,
            connects_in_ms: AtomicU64::new(0),
            ignores_the_gate: AtomicBool::new(false),
            next_check: Mutex::default(),
        }
    }

    /// Keeps the next customer check from arriving until the latch is opened.
    pub fn holds_the_next_check(&self) -> Latch {
        let latch = Latch::closed();
        *self.next_check.lock().unwrap_or_else(PoisonError::into_inner) = Some(latch.clone());
        latch
    }

    /// Whether the check that was to be held lies on the line.
    pub fn is_holding_a_check(&self) -> bool {
        self.next_check.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// From now on so much time passes before an order can leave.
    pub fn connects_in_ms(&self, length: u64) {
        self.connects_in_ms.store(length, Ordering::Relaxed);
    }

    /// From now on orders leave without a last look.
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

    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        self.clock.advance(Duration::from_millis(self.connects_in_ms.load(Ordering::Relaxed)));
        let always_open = Gate::while_true(|| true);
        let is_ignored = self.ignores_the_gate.load(Ordering::Relaxed);
        self.utility.vend(order, if is_ignored { &always_open } else { gate }).await
    }

    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry {
        self.utility.enquire(call, order).await
    }
}
