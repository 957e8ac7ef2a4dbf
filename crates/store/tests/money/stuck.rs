//! A wallet that another session keeps locked: its own jobs wait for it, and no others do.

use std::time::Duration;

use database::DatabaseSettings;
use futures_util::future::join_all;
use ledger::AccountId;
use purchase::StateName;
use store::{Recorded, Reservation, ReserveError, Store};
use tokio::{task::JoinSet, time::timeout};

use crate::env::{Merchant, TestEnv, connect, lock_of, settings, vended};

const LOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// Every job waits in the same lane.
async fn one_lane(env: &TestEnv) -> Store {
    connect(DatabaseSettings { lanes: Some(1), lock_timeout_ms: 500, ..settings(&env.database) }).await
}

async fn records(store: &Store, order: &Reservation) -> Recorded {
    store.record(order.id, order.authority.organisation, vended("V1", 1_000)).await.unwrap()
}

/// Reserves and records a sale, and returns whether both were committed.
async fn sells(env: &TestEnv, store: &Store, merchant: &Merchant, meter: u32) -> bool {
    let order = env.order(merchant, &format!("04{meter:09}"), 1_000).await;
    store.reserve(order.clone()).await.is_ok()
        && records(store, &order).await.lifecycle.state.name() == StateName::Successful
}

/// Other processes that lock the wallet again and again, each for a short time.
async fn keep_busy(env: &TestEnv, wallet: AccountId, processes: &mut JoinSet<()>) {
    for _ in 0..2 {
        let session = env.session().await;
        processes.spawn(async move {
            let work = format!("BEGIN; {}; SELECT pg_sleep(0.005); COMMIT", lock_of(wallet));
            while session.batch_execute(&work).await.is_ok() {}
        });
    }
}

#[tokio::test]
async fn a_wallet_that_stays_locked_stops_no_sale_of_another_organisation() {
    let env = TestEnv::open().await;
    let (stuck, free) = (env.merchant_with(50_000).await, env.merchant_with(50_000).await);
    let commission = env.sql(&format!(
        "SELECT id FROM accounts WHERE category = 'COMMISSION' AND organisation_id = {}",
        stuck.authority.organisation.0
    ));
    let (mut meter, mut sales) = (0, 0);
    for locked in [stuck.wallet, AccountId(commission.parse().unwrap())] {
        let (order, _) = env.reserved(&stuck, "04999999999", 1_000).await;
        let store = one_lane(&env).await;
        let holder = env.session().await;
        holder.batch_execute(&format!("BEGIN; {}", lock_of(locked))).await.unwrap();
        let recording = tokio::spawn({
            let (store, order) = (store.clone(), order.clone());
            async move { records(&store, &order).await }
        });

        // The lane waits for the lock once. The sales that wait behind it are made when it has given up.
        let waiting = (0..8).map(|number| sells(&env, &store, &free, meter + number));
        let sold = timeout(LOCK_TIMEOUT + Duration::from_secs(3), join_all(waiting)).await.unwrap();
        assert_eq!(sold, [true; 8]);
        // From then on it does not wait for the lock.
        let later = async {
            for number in 8..18 {
                assert!(sells(&env, &store, &free, meter + number).await);
                let refused = env.order(&stuck, "04888888888", 1_000).await;
                let refused = store.reserve(refused).await;
                assert!(matches!(refused, Err(ReserveError::Overloaded)), "{refused:?}");
            }
        };
        timeout(Duration::from_secs(3), later).await.unwrap();
        assert!(!recording.is_finished());
        (meter, sales) = (meter + 18, sales + 18);

        holder.batch_execute("ROLLBACK").await.unwrap();
        let recorded = timeout(Duration::from_secs(10), recording).await.unwrap().unwrap();
        assert_eq!(recorded.lifecycle.state.name(), StateName::Successful);
        assert!(sells(&env, &store, &stuck, meter).await);
        (meter, sales) = (meter + 1, sales + 2);
    }
    assert_eq!(env.count("journal_entries WHERE kind = 'SETTLE'"), sales);
    assert_eq!((env.count("purchases"), env.count("attempts")), (sales, sales));
    assert_eq!(env.balances(stuck.wallet), format!("{}|0", 50_000 - 4 * 1_150));
}

#[tokio::test]
async fn a_wallet_that_other_processes_use_all_the_time_is_not_taken_for_one_that_stays_locked() {
    let env = TestEnv::open().await;
    let (stuck, busy) = (env.merchant_with(50_000).await, env.merchant_with(50_000).await);
    let (order, _) = env.reserved(&stuck, "04999999999", 1_000).await;
    let store = one_lane(&env).await;
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(stuck.wallet))).await.unwrap();
    let mut processes = JoinSet::new();
    keep_busy(&env, busy.wallet, &mut processes).await;
    keep_busy(&env, stuck.wallet, &mut processes).await;

    // One group: the lane runs on this thread, so it begins when all of them wait in it.
    let sale = env.order(&busy, "04888888888", 1_000).await;
    let recording = tokio::spawn({
        let store = store.clone();
        async move { records(&store, &order).await }
    });
    let reserving = tokio::spawn({
        let store = store.clone();
        async move { store.reserve(sale).await }
    });
    reserving.await.unwrap().unwrap();
    for number in 0..4 {
        assert!(sells(&env, &store, &busy, number).await);
    }
    // After the release the wallet is as busy as the other one.
    holder.batch_execute("ROLLBACK").await.unwrap();
    let recorded = timeout(Duration::from_secs(20), recording).await.unwrap().unwrap();
    assert_eq!(recorded.lifecycle.state.name(), StateName::Successful);
    processes.shutdown().await;
}
