//! Stores that get one thing wrong.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use ledger::{AccountId, Wallet};
use purchase::{Event, Fence, Next, PurchaseId, Success, TimedEvent, step};
use purchase_memory::{
    Caller, FinalAnswer, Found, Key, MemoryStore, PurchaseStore, RecordError, Recorded, Reservation,
    ReserveError, Reserved, Unacknowledged, Verdict,
};
use vend::{Product, SubscriberIdentifier};

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
    /// A subscriber has one open purchase of all products together.
    ForgetsTheProduct,
    /// A reserve looks for an open purchase, and writes without a lock what it has decided.
    ReservesWithoutALock,
    /// A record reads the purchase, and writes without a lock what follows from it.
    RecordsWithoutALock,
    /// What the provider gave is not kept.
    ForgetsTheTokens,
    /// A holder that was replaced may say that the provider has no record.
    BelievesAStaleNoRecord,
    /// A holder that was replaced may say that its request is lost.
    BelievesAStaleLoss,
    /// What is declared about the connection does not count. The bench has this flaw.
    ForgetsTheDeclaration,
    /// A look tells the time of the reserve.
    TellsAnOldTime,
    /// The answer that it was bought closes nothing.
    KeepsOpenWhatWasBought,
    /// A reference rests after it was bought under, as after a failure.
    RestsAfterABuy,
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

    pub fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    /// The fence that the purchase really has.
    async fn current(&self, id: PurchaseId) -> Fence {
        self.memory.get(id).await.unwrap().unwrap().lifecycle.fence
    }

    fn shown(&self, mut found: Found) -> Found {
        if self.has(Flaw::ForgetsTheTokens) {
            found.success = found.success.map(|success| Success { tokens: None, ..success });
        }
        if self.has(Flaw::TellsAnOldTime) {
            found.at = found.lifecycle.window_closes_at - found.rules.timing.window;
        }
        if self.has(Flaw::KeepsTheReference) {
            let reserved = self.reserved.lock().unwrap();
            found.order.reference =
                reserved.iter().find(|order| order.id == found.id).unwrap().provider_reference;
        }
        found
    }

    /// Whether another purchase for its subscriber is open.
    async fn is_taken(&self, order: &Reservation) -> bool {
        let reserved = self.reserved.lock().unwrap().clone();
        let is_same = |other: &&Reservation| {
            other.id != order.id && (other.organisation, &other.sale) == (order.organisation, &order.sale)
        };
        for other in reserved.iter().filter(is_same) {
            let found = self.memory.get(other.id).await.unwrap();
            if found.is_some_and(|found| found.lifecycle.state.name().is_open()) {
                return true;
            }
        }
        false
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
            reservation.sale.subscriber = name.clone();
        }
        if self.has(Flaw::ReservesWithoutALock) && !self.is_taken(&reservation).await {
            tokio::task::yield_now().await;
            if self.is_taken(&reservation).await {
                reservation.sale.subscriber = name;
            }
        }
        if self.has(Flaw::ForgetsTheProduct) {
            reservation.sale.product = Product::Electricity;
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
        if let (Event::NoRecord { fence, .. }, true) = (&mut event, self.has(Flaw::BelievesAStaleNoRecord)) {
            *fence = self.current(id).await;
        }
        if let (Event::Lost { fence, .. }, true) = (&mut event, self.has(Flaw::BelievesAStaleLoss)) {
            *fence = self.current(id).await;
        }
        if self.has(Flaw::RecordsWithoutALock) {
            let read = self.memory.get(id).await.unwrap();
            tokio::task::yield_now().await;
            let recorded = self.memory.record(id, event.clone()).await?;
            let read = read.unwrap();
            let timed = TimedEvent { at: read.at, event };
            return Ok(match step(&read.lifecycle, &timed, &read.rules) {
                Ok(Next::Moved(lifecycle, effects)) if effects.is_empty() => {
                    Recorded { lifecycle, verdict: Verdict::Moved, ..recorded }
                }
                Ok(_) | Err(_) => recorded,
            });
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
        Ok(self.memory.get(id).await?.map(|found| self.shown(found)))
    }

    async fn find(&self, key: &Key) -> Result<Option<Found>, Unacknowledged> {
        if self.has(Flaw::ForgetsTheClosing) {
            return self.memory.close(key, PurchaseId(-1), FinalAnswer::NotBought).await;
        }
        Ok(self.memory.find(key).await?.map(|found| self.shown(found)))
    }

    async fn close(
        &self,
        key: &Key,
        known: PurchaseId,
        answer: FinalAnswer,
    ) -> Result<Option<Found>, Unacknowledged> {
        let answer = match answer {
            FinalAnswer::Bought if self.has(Flaw::KeepsOpenWhatWasBought) => {
                let newest = self.memory.close(key, PurchaseId(-1), answer).await?;
                return Ok(newest.filter(|newest| newest.id != known));
            }
            FinalAnswer::Bought if self.has(Flaw::RestsAfterABuy) => FinalAnswer::NotBought,
            FinalAnswer::Bought | FinalAnswer::NotBought => answer,
        };
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
