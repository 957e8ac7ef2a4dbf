//! The reference driver on the store in memory and a scripted provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use ledger::AccountId;
use provider::scripted::NextVend::{NeverArrives, Refuses, Vends, VendsButReplyIsLost};
use provider::scripted::{Conduct, ScriptedProvider};
use purchase::{Asker, Handling, OrganisationId, Price, PurchaseId, ResolveAnswer, Rules, StateName, Timing};
use purchase_memory::{
    Confirmed, Driver, FinalAnswer, Loss, MemoryStore, PurchaseStore, Reservation, ReserveRefusal, Retried,
    Surroundings,
};
use vend::{CallId, Product, ProviderReference, RefusalReason, Sale, SubscriberIdentifier};

use crate::bench::{OPENING, pula};
use crate::flawed::{Flaw, FlawedStore};

const WALLET: AccountId = AccountId(7);
const SHOP: OrganisationId = OrganisationId(1);

struct Shop {
    store: MemoryStore,
    provider: ScriptedProvider,
    /// The monotonic clock, in milliseconds.
    clock: Arc<AtomicU64>,
    calls: Arc<AtomicU32>,
}

impl Shop {
    fn open(handling: Handling, conduct: Conduct) -> Self {
        let rules = Rules { declared: conduct.capabilities(), timing: Timing::default() };
        let store = MemoryStore::new(rules, OPENING);
        store.open_account(WALLET, SHOP, handling, pula(50_000)).unwrap();
        let provider = ScriptedProvider::of_conduct(conduct);
        Self { store, provider, clock: Arc::default(), calls: Arc::new(AtomicU32::new(1)) }
    }

    fn driver(&self) -> Driver<'_, MemoryStore, ScriptedProvider> {
        let surroundings = surroundings(&self.clock, &self.calls);
        Driver::new(&self.store, &self.provider, Timing::default(), surroundings)
    }

    fn order(&self) -> Reservation {
        order(&self.calls)
    }

    async fn balances(&self) -> (i64, i64) {
        let wallet = self.store.wallet(WALLET).await.unwrap().unwrap();
        (wallet.posted().minor(), wallet.held().minor())
    }

    async fn looks(&self, id: PurchaseId) -> ResolveAnswer {
        let found = self.store.get(id).await.unwrap().unwrap();
        self.driver().resolve(Asker::Worker, &found).await.unwrap()
    }
}

fn surroundings(clock: &Arc<AtomicU64>, calls: &Arc<AtomicU32>) -> Surroundings {
    let (clock, calls) = (clock.clone(), calls.clone());
    Surroundings {
        monotonic: Arc::new(move || Duration::from_millis(clock.load(Ordering::Relaxed))),
        next_call: Arc::new(move || CallId::new(calls.fetch_add(1, Ordering::Relaxed), OPENING).unwrap()),
    }
}

/// An order under the next number. Its call is its own.
fn order(calls: &AtomicU32) -> Reservation {
    let number = calls.fetch_add(1, Ordering::Relaxed);
    let net = pula(10_000);
    let subscriber = SubscriberIdentifier::parse("04257670465").unwrap();
    Reservation {
        id: PurchaseId(number.into()),
        organisation: SHOP,
        account: WALLET,
        price: Price { entry: net, charge: pula(150), net, total: pula(10_150), commission: pula(0) },
        sale: Sale { product: Product::Electricity, subscriber, amount: net },
        external_reference: "order 4711".to_owned(),
        provider_reference: ProviderReference::new(CallId::new(number, OPENING).unwrap()),
    }
}

#[tokio::test]
async fn a_lost_reply_is_settled_by_a_retry_and_nothing_is_vended_twice() {
    let shop = Shop::open(Handling::SelfManaged, Conduct::ANSWERS_REPEATS);
    shop.provider.will([VendsButReplyIsLost]);
    let order = shop.order();
    let confirmed = shop.driver().confirm(&order, Duration::ZERO).await;
    assert_eq!(confirmed, Ok(Confirmed::Recorded(StateName::InDoubt)));
    assert_eq!(shop.balances().await, (50_000, 10_150));
    let next = shop.driver().confirm(&shop.order(), Duration::ZERO).await;
    assert_eq!(next, Ok(Confirmed::Refused(ReserveRefusal::Pending)));
    let retried = shop.driver().retry(&order.key()).await;
    assert_eq!(retried, Ok(Retried::Ended(order.id, FinalAnswer::Bought)));
    assert_eq!(shop.balances().await, (39_850, 0));
    assert_eq!(shop.provider.vends().len(), 1);
}

#[tokio::test]
async fn after_a_lost_reserve_nothing_is_sent_and_the_hold_is_released() {
    for loss in [Loss::Acknowledgement, Loss::Commit] {
        let shop = Shop::open(Handling::SelfManaged, Conduct::ANSWERS_REPEATS);
        shop.store.loses(loss);
        let confirmed = shop.driver().confirm(&shop.order(), Duration::ZERO).await;
        assert_eq!(confirmed, Ok(Confirmed::Recorded(StateName::Failed)), "{loss:?}");
        assert_eq!(shop.balances().await, (50_000, 0));
        assert!(shop.provider.vends().is_empty());
    }
}

#[tokio::test]
async fn an_order_that_is_confirmed_again_is_sent_once_and_keeps_its_hold() {
    for (first, state) in [(Vends, StateName::Successful), (VendsButReplyIsLost, StateName::InDoubt)] {
        let shop = Shop::open(Handling::SelfManaged, Conduct::ANSWERS_REPEATS);
        shop.provider.will([first, Vends]);
        let order = shop.order();
        for _confirm in 0..3 {
            let confirmed = shop.driver().confirm(&order, Duration::ZERO).await;
            assert_eq!(confirmed, Ok(Confirmed::Recorded(state)));
            // It would take the purchase for its own.
            shop.store.loses(Loss::Acknowledgement);
        }
        assert_eq!(shop.provider.vends().len(), 1);
    }
}

#[tokio::test]
async fn two_confirms_of_an_order_at_once_send_it_once() {
    let Shop { store, provider, clock, calls } = Shop::open(Handling::SelfManaged, Conduct::ANSWERS_REPEATS);
    let (order, surroundings) = (order(&calls), surroundings(&clock, &calls));
    // The other one is just ahead: it has reserved, and is about to send.
    let store = FlawedStore::new(store, Some(Flaw::IsNeverNew));
    let driver = Driver::new(&store, &provider, Timing::default(), surroundings);
    let confirmed = driver.confirm(&order, Duration::ZERO).await;
    assert_eq!(confirmed, Ok(Confirmed::Recorded(StateName::InFlight)));
    assert!(provider.vends().is_empty());
    let wallet = store.wallet(WALLET).await.unwrap().unwrap();
    assert_eq!(wallet.held(), order.price.total);
}

#[tokio::test]
async fn an_order_whose_gate_has_closed_is_never_sent() {
    let shop = Shop::open(Handling::SelfManaged, Conduct::ANSWERS_REPEATS);
    let timing = Timing::default();
    shop.clock.store(60_000, Ordering::Relaxed);
    let age = |length: Duration| Duration::from_secs(60).saturating_sub(length);
    let confirmed = shop.driver().confirm(&shop.order(), age(timing.intake + Duration::from_millis(1))).await;
    assert_eq!(confirmed, Ok(Confirmed::Refused(ReserveRefusal::TooLate)));
    let in_time = shop.driver().confirm(&shop.order(), age(timing.intake)).await;
    assert_eq!(in_time, Ok(Confirmed::Recorded(StateName::Successful)));
    assert_eq!(shop.provider.vends().len(), 1);
}

#[tokio::test]
async fn a_managed_purchase_is_attempted_again_by_the_worker() {
    let shop = Shop::open(Handling::Managed, Conduct::REJECTS_REPEATS);
    shop.provider.will([Refuses(RefusalReason::Busy), Vends]);
    let order = shop.order();
    let confirmed = shop.driver().confirm(&order, Duration::ZERO).await;
    assert_eq!(confirmed, Ok(Confirmed::Recorded(StateName::RetryDue)));
    assert_eq!(shop.looks(order.id).await, ResolveAnswer::Pending);
    let [first_attempt, ..] = Timing::default().plan.attempts;
    shop.store.passes(first_attempt);
    assert_eq!(shop.looks(order.id).await, ResolveAnswer::Final);
    assert_eq!(shop.balances().await, (39_850, 0));
}

#[tokio::test]
async fn an_order_that_never_arrived_is_sent_again_where_that_is_declared_safe() {
    let shop = Shop::open(Handling::SelfManaged, Conduct::ANSWERS_REPEATS);
    shop.provider.will([NeverArrives]);
    let order = shop.order();
    shop.driver().confirm(&order, Duration::ZERO).await.unwrap();
    let [first_repeat, ..] = Timing::default().plan.repeats;
    shop.store.passes(first_repeat);
    let retried = shop.driver().retry(&order.key()).await;
    assert_eq!(retried, Ok(Retried::Ended(order.id, FinalAnswer::Bought)));
    assert_eq!((shop.balances().await, shop.provider.vends().len()), ((39_850, 0), 1));
}

#[tokio::test]
async fn what_was_not_found_is_not_bought_afterwards() {
    let shop = Shop::open(Handling::SelfManaged, Conduct::ANSWERS_REPEATS);
    let order = shop.order();
    assert_eq!(shop.driver().retry(&order.key()).await, Ok(Retried::NotFound));
    let confirmed = shop.driver().confirm(&order, Duration::ZERO).await;
    assert_eq!(confirmed, Ok(Confirmed::Refused(ReserveRefusal::ReferenceRests)));
    assert_eq!(shop.balances().await, (50_000, 0));
}
