//! A store in memory as a bench.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use ledger::AccountId;
use money::{Currency, Money};
use purchase::{Handling, OrganisationId, PurchaseId, Rules, Timing};
use vend::{CallId, Capabilities, ProviderReference};

use crate::specification::Bench;
use crate::{MemoryStore, PurchaseStore};

/// A [`MemoryStore`] with the rest that an examination and a history need: numbers, references and wallets. Let the same
/// [`history`](crate::history) happen to it and to the bench of your own store, and compare the answers.
#[derive(Debug)]
pub struct MemoryBench {
    store: MemoryStore,
    timing: Timing,
    currency: Currency,
    numbers: AtomicU32,
}

impl MemoryBench {
    /// An empty store whose clock stands at the beginning of 1970. Its wallets are in this currency.
    pub fn open(rules: Rules, currency: Currency) -> Self {
        let store = MemoryStore::new(rules, DateTime::UNIX_EPOCH);
        Self { store, timing: rules.timing, currency, numbers: AtomicU32::new(1) }
    }

    /// The store.
    pub const fn memory(&self) -> &MemoryStore {
        &self.store
    }

    fn next(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }
}

/// It gives out 999,999 numbers, and panics at the next one.
#[async_trait]
impl Bench for MemoryBench {
    fn store(&self) -> &dyn PurchaseStore {
        &self.store
    }

    fn timing(&self) -> Timing {
        self.timing
    }

    fn amount(&self, minor: i64) -> Money {
        Money::from_minor(minor, self.currency)
    }

    async fn open_account(&self, handling: Handling, balance: Money) -> (OrganisationId, AccountId) {
        let number = i64::from(self.next());
        let (organisation, account) = (OrganisationId(number), AccountId(number));
        let opened = self.store.open_account(account, organisation, handling, balance);
        opened.expect("a bench opens wallets with a balance");
        (organisation, account)
    }

    async fn number(&self) -> (PurchaseId, ProviderReference) {
        let number = self.next();
        let call =
            CallId::new(number, DateTime::UNIX_EPOCH).expect("fewer than a million numbers are needed");
        (PurchaseId(number.into()), ProviderReference::new(call))
    }

    async fn now(&self) -> DateTime<Utc> {
        self.store.now()
    }

    async fn passes(&self, length: Duration) {
        self.store.passes(length);
    }

    async fn declare(&self, declared: Capabilities) {
        self.store.declare(declared);
    }
}
