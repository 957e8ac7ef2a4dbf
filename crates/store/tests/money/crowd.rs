//! Many callers at once, through one process or several: the books add up.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use purchase::{Event, Handling, RefusalSource, StateName};
use store::{Recorded, ReserveError, Store};
use tokio::task::JoinSet;
use vend::{Doubt, Refusal, RefusalReason};

use crate::env::{FIRST, Merchant, TestEnv, connect, settings, vended};

const CALLERS: usize = 64;

/// Each caller buys three times: one purchase is vended, one is refused, one is left in doubt.
async fn all_callers_buy(env: &Arc<TestEnv>, merchants: &[Merchant], stores: &[Store], ids: &Arc<AtomicI64>) {
    let mut callers = JoinSet::new();
    for (caller, (merchant, store)) in (0..CALLERS).zip(merchants.iter().cycle().zip(stores.iter().cycle())) {
        let (env, merchant, store, ids) = (env.clone(), *merchant, store.clone(), ids.clone());
        callers.spawn(async move {
            for turn in 0..3 {
                let meter = format!("04{caller:04}{turn:05}");
                let order = env.order_with(&merchant, &meter, 1_000, ids.fetch_add(1, Ordering::Relaxed));
                let reserved = store.reserve(order.clone()).await.unwrap();
                assert_eq!(reserved.lifecycle.fence, FIRST);
                let recorded = store.record(order.id, merchant.authority.organisation, outcome(turn)).await;
                assert_eq!(state(&recorded.unwrap()), expected(turn));
            }
        });
    }
    callers.join_all().await;
}

fn outcome(turn: u32) -> Event {
    let refusal = Refusal::because(RefusalReason::Blocked);
    match turn {
        0 => vended("V", 1_000),
        1 => Event::Refused { fence: FIRST, refusal, source: RefusalSource::Answer },
        _ => Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() },
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
    recorded.lifecycle.state.name()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_callers_on_one_wallet_through_two_processes_add_up() {
    let env = Arc::new(TestEnv::open().await);
    let merchant = env.merchant_with(10_000_000).await;
    let stores = [env.store.clone(), connect(settings(&env.database)).await];
    all_callers_buy(&env, &[merchant], &stores, &Arc::new(AtomicI64::new(10_000))).await;

    // 64 purchases of 11.50 were vended. 64 are in doubt, and 11.50 is held for each.
    assert_eq!(env.balances(merchant.wallet), format!("{}|{}", 10_000_000 - 64 * 1_150, 64 * 1_150));
    let commission = "SELECT posted FROM accounts WHERE category = 'COMMISSION'";
    assert_eq!(env.sql(commission), (64 * 100).to_string());
    let states = env.sql("SELECT state, count(*) FROM purchases GROUP BY state ORDER BY state");
    assert_eq!(states, "FAILED|64\nIN_DOUBT|64\nSUCCESSFUL|64");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_callers_on_sixteen_wallets_neither_deadlock_nor_lose_anything() {
    let env = Arc::new(TestEnv::open().await);
    let mut merchants = Vec::new();
    for _ in 0..4 {
        let merchant = env.merchant_with(10_000_000).await;
        merchants.push(merchant);
        // More wallets with the same commission account.
        for _ in 0..3 {
            let organisation = merchant.authority.organisation;
            let wallet = env.wallet(organisation, 10_000_000, Handling::SelfManaged).await;
            merchants.push(Merchant { wallet, ..merchant });
        }
    }
    let stores = [env.store.clone(), connect(settings(&env.database)).await];
    all_callers_buy(&env, &merchants, &stores, &Arc::new(AtomicI64::new(10_000))).await;
    assert_eq!(env.count("purchases"), 192);
    let held = env.sql("SELECT sum(held) FROM accounts WHERE category = 'CURRENT'");
    assert_eq!(held, (64 * 1_150).to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wallet_that_is_nearly_empty_is_spent_to_the_last_purchase_and_never_beyond() {
    let env = Arc::new(TestEnv::open().await);
    let merchant = env.merchant_with(20 * 1_150 + 700).await;
    let stores = [env.store.clone(), connect(settings(&env.database)).await];
    let mut callers = JoinSet::new();
    for (caller, store) in (0..CALLERS).zip(stores.iter().cycle()) {
        let (store, id) = (store.clone(), 10_000 + i64::try_from(caller).unwrap());
        let order = env.order_with(&merchant, &format!("04{caller:09}"), 1_000, id);
        callers.spawn(async move { store.reserve(order).await });
    }
    let outcomes = callers.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 20);
    let refused = outcomes.iter().filter(|outcome| matches!(outcome, Err(ReserveError::Refused(_))));
    assert_eq!(refused.count(), 44);
    assert_eq!(env.balances(merchant.wallet), format!("{}|{}", 20 * 1_150 + 700, 20 * 1_150));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_confirms_for_one_meter_at_once_are_one_purchase() {
    let env = Arc::new(TestEnv::open().await);
    let merchant = env.merchant_with(10_000_000).await;
    let stores = [env.store.clone(), connect(settings(&env.database)).await];
    let mut callers = JoinSet::new();
    for (caller, store) in (0..100).zip(stores.iter().cycle()) {
        let order = env.order_with(&merchant, "04257670465", 1_000, 10_000 + caller);
        let store = store.clone();
        callers.spawn(async move { store.reserve(order).await });
    }
    let outcomes = callers.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let pending = |outcome: &&Result<_, _>| {
        matches!(outcome, Err(ReserveError::Refused(store::ReserveRefusal::Pending { .. })))
    };
    assert_eq!(outcomes.iter().filter(pending).count(), 99);
    assert_eq!(env.balances(merchant.wallet), "10000000|1150");
}
