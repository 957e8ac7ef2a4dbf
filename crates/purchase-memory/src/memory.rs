//! The store in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use ledger::{AccountId, LedgerError, Wallet};
use money::Money;
use purchase::{Event, Fence, Handling, OrganisationId, PurchaseId, Rules};
use vend::Capabilities;

use crate::{
    Caller, FinalAnswer, Found, Key, PurchaseStore, RecordError, Recorded, Reservation, ReserveError,
    Reserved, Unacknowledged,
};

mod state;

use state::State;

/// A loss that the next write suffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It is committed, and its acknowledgement is lost.
    Acknowledgement,
    /// It is not committed, and the store does not say so.
    Commit,
}

/// Purchases and wallets in memory, for one connection to one provider. Its clock stands still until
/// [`passes`](Self::passes) or [`set_time`](Self::set_time) is called.
///
/// Whatever decides is in `purchase` and `ledger`. What is here is what a database adds: which writes are one
/// transaction, what a repeated write does, and which purchases exclude each other.
#[derive(Debug)]
pub struct MemoryStore {
    state: Mutex<State>,
}

impl MemoryStore {
    /// An empty store at this time.
    pub fn new(rules: Rules, at: DateTime<Utc>) -> Self {
        Self { state: Mutex::new(State::new(&rules, at)) }
    }

    /// Opens a wallet with this balance.
    ///
    /// # Errors
    /// As [`Wallet::new`].
    pub fn open_account(
        &self,
        id: AccountId,
        organisation: OrganisationId,
        handling: Handling,
        balance: Money,
    ) -> Result<(), LedgerError> {
        let wallet = Wallet::new(id, balance, balance.minus(balance)?)?;
        self.state().open_account(organisation, handling, wallet);
        Ok(())
    }

    /// Changes what the connection is declared to do in doubt.
    pub fn declare(&self, declared: Capabilities) {
        self.state().rules.declared = declared;
    }

    /// Lets time pass, until the last time that there is.
    pub fn passes(&self, length: Duration) {
        let mut state = self.state();
        let later = TimeDelta::from_std(length).ok().and_then(|length| state.at.checked_add_signed(length));
        state.at = later.unwrap_or(DateTime::<Utc>::MAX_UTC);
    }

    /// The time of its clock.
    pub fn now(&self) -> DateTime<Utc> {
        self.state().at
    }

    /// Sets the clock.
    pub fn set_time(&self, at: DateTime<Utc>) {
        self.state().at = at;
    }

    /// Makes the next reserve or record suffer this loss.
    pub fn loses(&self, loss: Loss) {
        self.state().loss = Some(loss);
    }

    /// What has moved a purchase, in order.
    pub fn history(&self, id: PurchaseId) -> Vec<Event> {
        self.state().history(id)
    }

    /// The provider's transactions of the vends that became known after the purchase had ended.
    pub fn incidents(&self, id: PurchaseId) -> Vec<String> {
        self.state().incidents(id)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl PurchaseStore for MemoryStore {
    async fn reserve(&self, reservation: &Reservation, caller: Caller) -> Result<Reserved, ReserveError> {
        let mut state = self.state();
        match state.loss.take() {
            None => state.reserve(reservation, caller).map_err(ReserveError::Refused),
            Some(Loss::Acknowledgement) => {
                // A refusal is not committed, so there is nothing to acknowledge.
                state.reserve(reservation, caller).map_err(ReserveError::Refused)?;
                Err(ReserveError::Unacknowledged)
            }
            Some(Loss::Commit) => Err(ReserveError::Unacknowledged),
        }
    }

    async fn record(&self, id: PurchaseId, event: Event) -> Result<Recorded, RecordError> {
        let mut state = self.state();
        match state.loss.take() {
            None => state.record(id, event).ok_or(RecordError::NoSuchPurchase),
            Some(Loss::Acknowledgement) => {
                state.record(id, event).ok_or(RecordError::NoSuchPurchase)?;
                Err(RecordError::Unacknowledged)
            }
            Some(Loss::Commit) => Err(RecordError::Unacknowledged),
        }
    }

    async fn renew(&self, id: PurchaseId, fence: Fence) -> Result<bool, Unacknowledged> {
        Ok(self.state().renew(id, fence))
    }

    async fn take_turn(&self, id: PurchaseId, fence: Fence) -> Result<bool, Unacknowledged> {
        Ok(self.state().take_turn(id, fence))
    }

    async fn get(&self, id: PurchaseId) -> Result<Option<Found>, Unacknowledged> {
        Ok(self.state().found(id))
    }

    async fn find(&self, key: &Key) -> Result<Option<Found>, Unacknowledged> {
        Ok(self.state().close(key, None, FinalAnswer::NotBought))
    }

    async fn close(
        &self,
        key: &Key,
        known: PurchaseId,
        answer: FinalAnswer,
    ) -> Result<Option<Found>, Unacknowledged> {
        Ok(self.state().close(key, Some(known), answer))
    }

    async fn wallet(&self, account: AccountId) -> Result<Option<Wallet>, Unacknowledged> {
        Ok(self.state().wallet(account))
    }
}
