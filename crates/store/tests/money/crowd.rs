//! Crowds: however many come at once, and through however many processes, the books add up.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use purchase::{Fact, Handling, StateName, Told};
use store::{Recorded, ReserveError, Store};
use tokio::task::JoinSet;
use vend::{Doubt, Refusal, RefusalReason};

use crate::town::{FIRST, Shop, Town, connect, settings, vended};

const CALLERS: usize = 64;

/// Each caller buys three times: one is vended, one refused, one left in doubt. Returns how many of each.
async fn everybody_buys(town: &Arc<Town>, shops: &[Shop], stores: &[Store], ids: &Arc<AtomicI64>) {
    let mut callers = JoinSet::new();
    for (caller, (shop, store)) in (0..CALLERS).zip(shops.iter().cycle().zip(stores.iter().cycle())) {
        let (town, shop, store, ids) = (town.clone(), *shop, store.clone(), ids.clone());
        callers.spawn(async move {
            for turn in 0..3 {
                let meter = format!("04{caller:04}{turn:05}");
                let order = town.order_with(&shop, &meter, 1_000, ids.fetch_add(1, Ordering::Relaxed));
                let reserved = store.reserve(order.clone()).await.unwrap();
                assert_eq!(reserved.life.fence, FIRST);
                let recorded = store.record(order.id, shop.authority.organisation, outcome(turn)).await;
                assert_eq!(state(&recorded.unwrap()), expected(turn));
            }
        });
    }
    callers.join_all().await;
}

fn outcome(turn: u32) -> Fact {
    let refusal = Refusal::because(RefusalReason::Blocked);
    match turn {
        0 => vended("V", 1_000),
        1 => Fact::Refused { fence: FIRST, refusal, told: Told::InAnswer },
        _ => Fact::Lost { fence: FIRST, why: Doubt::TimedOut.into() },
    }
}

fn expected(turn: u32) -> StateName {
    match turn {
        0 => StateName::Successful,
        1 => StateName::Failed,
        _ => StateName::InDoubt,
    }
}

fn state(recorded: &Recorded) -> StateName {
    recorded.life.state.name()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_callers_on_one_wallet_through_two_processes_add_up() {
    let town = Arc::new(Town::open().await);
    let shop = town.shop_with(10_000_000).await;
    let stores = [town.store.clone(), connect(settings(&town.database)).await];
    everybody_buys(&town, &[shop], &stores, &Arc::new(AtomicI64::new(10_000))).await;

    // 64 vended at 11.50; 64 left in doubt, of which 11.50 each is held.
    assert_eq!(town.balances(shop.wallet), format!("{}|{}", 10_000_000 - 64 * 1_150, 64 * 1_150));
    let commission = "SELECT posted FROM accounts WHERE category = 'COMMISSION'";
    assert_eq!(town.sql(commission), (64 * 100).to_string());
    let states = town.sql("SELECT state, count(*) FROM purchases GROUP BY state ORDER BY state");
    assert_eq!(states, "FAILED|64\nIN_DOUBT|64\nSUCCESSFUL|64");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_callers_on_many_wallets_of_few_organisations_neither_deadlock_nor_lose_anything() {
    let town = Arc::new(Town::open().await);
    let mut shops = Vec::new();
    for _ in 0..4 {
        let shop = town.shop_with(10_000_000).await;
        shops.push(shop);
        // More wallets with the same commission account.
        for _ in 0..3 {
            let organisation = shop.authority.organisation;
            let wallet = town.wallet(organisation, 10_000_000, Handling::SelfManaged).await;
            shops.push(Shop { wallet, ..shop });
        }
    }
    let stores = [town.store.clone(), connect(settings(&town.database)).await];
    everybody_buys(&town, &shops, &stores, &Arc::new(AtomicI64::new(10_000))).await;
    assert_eq!(town.count("purchases"), 192);
    let held = town.sql("SELECT sum(held) FROM accounts WHERE category = 'CURRENT'");
    assert_eq!(held, (64 * 1_150).to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wallet_that_is_nearly_empty_is_spent_to_the_last_purchase_and_never_beyond() {
    let town = Arc::new(Town::open().await);
    let shop = town.shop_with(20 * 1_150 + 700).await;
    let stores = [town.store.clone(), connect(settings(&town.database)).await];
    let mut callers = JoinSet::new();
    for (caller, store) in (0..CALLERS).zip(stores.iter().cycle()) {
        let (store, id) = (store.clone(), 10_000 + i64::try_from(caller).unwrap());
        let order = town.order_with(&shop, &format!("04{caller:09}"), 1_000, id);
        callers.spawn(async move { store.reserve(order).await });
    }
    let outcomes = callers.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 20);
    let refused = outcomes.iter().filter(|outcome| matches!(outcome, Err(ReserveError::Refused(_))));
    assert_eq!(refused.count(), 44);
    assert_eq!(town.balances(shop.wallet), format!("{}|{}", 20 * 1_150 + 700, 20 * 1_150));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_confirms_for_one_meter_at_once_are_one_purchase() {
    let town = Arc::new(Town::open().await);
    let shop = town.shop_with(10_000_000).await;
    let stores = [town.store.clone(), connect(settings(&town.database)).await];
    let mut callers = JoinSet::new();
    for (caller, store) in (0..100).zip(stores.iter().cycle()) {
        let order = town.order_with(&shop, "04257670465", 1_000, 10_000 + caller);
        let store = store.clone();
        callers.spawn(async move { store.reserve(order).await });
    }
    let outcomes = callers.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let pending = |outcome: &&Result<_, _>| {
        matches!(outcome, Err(ReserveError::Refused(store::ReserveRefusal::Pending { .. })))
    };
    assert_eq!(outcomes.iter().filter(pending).count(), 99);
    assert_eq!(town.balances(shop.wallet), "10000000|1150");
}
