//! Stores that get one thing wrong.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use ledger::{AccountId, Wallet};
use purchase::{Event, Fence, PurchaseId};
use purchase_memory::{
    Caller, FinalAnswer, Found, Key, MemoryStore, PurchaseStore, RecordError, Recorded, Reservation,
    ReserveError, Reserved, Unacknowledged,
};
use vend::SubscriberIdentifier;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A reservation that runs again is another purchase.
    ReservesAgain,
    /// A reservation that runs again is told that it is new.
    IsAlwaysNew,
    /// Another confirm of the same reservation is always just ahead, so none is told that it is new.
    IsNeverNew,
    /// Two purchases for one subscriber may be open.
    ForgetsTheSubscriber,
    /// The age of a request does not count.
    ForgetsTheAge,
    /// A lease does not hold off a claim.
    ForgetsTheLease,
    /// A holder under any fence speaks for the current one.
    ForgetsTheFence,
    /// A renewal writes nothing.
    ForgetsTheRenewal,
    /// Every question gets a turn.
    GrantsEveryTurn,
    /// "Not found" closes nothing.
    ForgetsTheClosing,
    /// A closing passes over a newer purchase.
    ClosesUnasked,
    /// A later attempt keeps the first reference.
    KeepsTheReference,
}

pub struct FlawedStore {
    memory: MemoryStore,
    flaw: Option<Flaw>,
    reserved: Mutex<Vec<Reservation>>,
}

impl FlawedStore {
    pub fn new(memory: MemoryStore, flaw: Option<Flaw>) -> Self {
        Self { memory, flaw, reserved: Mutex::default() }
    }

    pub fn memory(&self) -> &MemoryStore {
        &self.memory
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    /// The fence that the purchase really has.
    async fn current(&self, id: PurchaseId) -> Fence {
        self.memory.get(id).await.unwrap().unwrap().lifecycle.fence
    }

    fn first_reference(&self, mut found: Found) -> Found {
        if self.has(Flaw::KeepsTheReference) {
            let reserved = self.reserved.lock().unwrap();
            found.order.reference =
                reserved.iter().find(|order| order.id == found.id).unwrap().provider_reference;
        }
        found
    }
}

#[async_trait]
impl PurchaseStore for FlawedStore {
    async fn reserve(&self, reservation: &Reservation, mut caller: Caller) -> Result<Reserved, ReserveError> {
        let mut reservation = reservation.clone();
        let runs = {
            let mut reserved = self.reserved.lock().unwrap();
            reserved.push(reservation.clone());
            reserved.len()
        };
        let name = SubscriberIdentifier::parse(&format!("0{runs:09}")).unwrap();
        if self.has(Flaw::ReservesAgain) {
            reservation.id = PurchaseId(reservation.id.0 + 1_000_000 * i64::try_from(runs).unwrap());
            reservation.sale.subscriber = name.clone();
        }
        if self.has(Flaw::ForgetsTheSubscriber) {
            reservation.sale.subscriber = name;
        }
        if self.has(Flaw::ForgetsTheAge) {
            caller.age = Duration::ZERO;
        }
        let mut reserved = self.memory.reserve(&reservation, caller).await?;
        if self.has(Flaw::IsAlwaysNew) || self.has(Flaw::IsNeverNew) {
            reserved.is_new = self.has(Flaw::IsAlwaysNew);
        }
        Ok(reserved)
    }

    async fn record(&self, id: PurchaseId, mut event: Event) -> Result<Recorded, RecordError> {
        if self.has(Flaw::ForgetsTheLease) && event == Event::Claimed {
            let found = self.memory.get(id).await.unwrap();
            if let Some(found) = found {
                self.memory.passes(found.rules.timing.lease);
            }
        }
        if self.has(Flaw::ForgetsTheFence) {
            if let Event::Refused { fence, .. } | Event::NeverSent { fence } = &mut event {
                *fence = self.current(id).await;
            }
        }
        self.memory.record(id, event).await
    }

    async fn renew(&self, id: PurchaseId, fence: Fence) -> Result<bool, Unacknowledged> {
        if self.has(Flaw::ForgetsTheRenewal) {
            let found = self.memory.get(id).await?.ok_or(Unacknowledged)?;
            return Ok(found.lifecycle.renewed(fence, found.at, &found.rules.timing).is_some());
        }
        self.memory.renew(id, fence).await
    }

    async fn take_turn(&self, id: PurchaseId, fence: Fence) -> Result<bool, Unacknowledged> {
        if self.has(Flaw::GrantsEveryTurn) {
            return Ok(true);
        }
        self.memory.take_turn(id, fence).await
    }

    async fn get(&self, id: PurchaseId) -> Result<Option<Found>, Unacknowledged> {
        Ok(self.memory.get(id).await?.map(|found| self.first_reference(found)))
    }

    async fn find(&self, key: &Key) -> Result<Option<Found>, Unacknowledged> {
        if self.has(Flaw::ForgetsTheClosing) {
            return self.memory.close(key, PurchaseId(-1), FinalAnswer::NotBought).await;
        }
        self.memory.find(key).await
    }

    async fn close(
        &self,
        key: &Key,
        known: PurchaseId,
        answer: FinalAnswer,
    ) -> Result<Option<Found>, Unacknowledged> {
        let newer = self.memory.close(key, known, answer).await?;
        match newer {
            Some(newer) if self.has(Flaw::ClosesUnasked) => self.memory.close(key, newer.id, answer).await,
            other => Ok(other),
        }
    }

    async fn wallet(&self, account: AccountId) -> Result<Option<Wallet>, Unacknowledged> {
        self.memory.wallet(account).await
    }
}
