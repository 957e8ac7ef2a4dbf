//! A store in memory with a flaw, as a bench.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use ledger::AccountId;
use money::{Currency, Money};
use purchase::{Handling, OrganisationId, PurchaseId, Rules, Timing};
use purchase_memory::specification::Bench;
use purchase_memory::{MemoryStore, PurchaseStore};
use vend::{CallId, Capabilities, ProviderReference};

use crate::flawed::{Flaw, FlawedStore};

pub const OPENING: DateTime<Utc> = DateTime::UNIX_EPOCH;

pub fn pula(minor: i64) -> Money {
    Money::from_minor(minor, Currency::parse("BWP").unwrap())
}

pub struct FlawedBench {
    store: FlawedStore,
    numbers: AtomicI64,
}

impl FlawedBench {
    pub fn open(flaw: Flaw) -> Self {
        let rules = Rules { declared: Capabilities::NONE, timing: Timing::default() };
        let store = FlawedStore::new(MemoryStore::new(rules, OPENING), Some(flaw));
        Self { store, numbers: AtomicI64::new(1) }
    }

    pub fn memory(&self) -> &MemoryStore {
        self.store.memory()
    }
}

#[async_trait]
impl Bench for FlawedBench {
    fn store(&self) -> &dyn PurchaseStore {
        &self.store
    }

    fn timing(&self) -> Timing {
        Timing::default()
    }

    fn amount(&self, minor: i64) -> Money {
        pula(minor)
    }

    async fn open_account(&self, handling: Handling, balance: Money) -> (OrganisationId, AccountId) {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (organisation, account) = (OrganisationId(number), AccountId(number));
        self.memory().open_account(account, organisation, handling, balance).unwrap();
        (organisation, account)
    }

    async fn number(&self) -> (PurchaseId, ProviderReference) {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let call = CallId::new(u32::try_from(number).unwrap(), OPENING).unwrap();
        (PurchaseId(number), ProviderReference::new(call))
    }

    async fn now(&self) -> DateTime<Utc> {
        self.memory().now()
    }

    async fn passes(&self, length: Duration) {
        self.memory().passes(length);
    }

    async fn declare(&self, declared: Capabilities) {
        if !self.store.has(Flaw::ForgetsTheDeclaration) {
            self.memory().declare(declared);
        }
    }
}
