//! Failures in a group: a job that breaks a rule harms no other job. Records wait for locks that other
//! sessions hold, and reserves do not.

use std::time::Duration;

use database::DatabaseError;
use purchase::StateName;
use store::{RecordError, ReserveError};
use test_kit::waiting::until;

use crate::env::{TestEnv, connect, lock_of, pula, settings, vend, vended};

#[tokio::test]
async fn one_poisoned_reserve_fails_alone() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(1_000_000).await;
    let mut orders = Vec::new();
    for number in 0..9 {
        orders.push(env.order(&merchant, &format!("0400000000{number}"), 1_000).await);
    }
    // A total that is not the sum of net and charge violates a constraint of the schema.
    orders[5].price.total = pula(9_999);
    let reserving = orders.iter().map(|order| env.store.reserve(order.clone()));
    let outcomes = futures_util::future::join_all(reserving).await;
    for (number, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Ok(_) => assert_ne!(number, 5),
            Err(error) => {
                assert!(number == 5 && matches!(error, ReserveError::Failed(_)), "{number}: {error:?}");
            }
        }
    }
    assert_eq!(env.count("purchases"), 8);
    assert_eq!(env.balances(merchant.wallet), format!("1000000|{}", 8 * 1_150));
}

#[tokio::test]
async fn one_poisoned_record_fails_alone() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(1_000_000).await;
    let mut orders = Vec::new();
    for number in 0..7 {
        orders.push(env.reserved(&merchant, &format!("0400000000{number}"), 1_000).await.0);
    }
    let recording = (0..).zip(&orders).map(|(number, order)| {
        let mut sold = vend(&format!("V{number}"), 1_000);
        if number == 3 {
            // A vend of electricity without a token is not a success, and the schema enforces this.
            sold.tokens = None;
        }
        let event = purchase::Event::Vended { vend: Box::new(sold) };
        env.store.record(order.id, order.authority.organisation, event)
    });
    let outcomes = futures_util::future::join_all(recording).await;
    for (number, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Ok(recorded) => {
                assert_eq!((number != 3, recorded.lifecycle.state.name()), (true, StateName::Successful));
            }
            Err(error) => {
                assert!(number == 3 && matches!(error, RecordError::Unacknowledged(_)), "{error:?}");
            }
        }
    }
    assert_eq!(env.state(orders[3].id), "IN_FLIGHT");
    assert_eq!(env.balances(merchant.wallet), format!("{}|1150", 1_000_000 - 6 * 1_150));
}

/// A trigger leaves the purchase as it is. It stands for a defect in the locks: the row is not what was read under its lock.
#[tokio::test]
async fn a_record_that_would_leave_its_purchase_as_it_is_is_not_committed() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    env.sql(
        "CREATE FUNCTION leave_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
         CREATE TRIGGER a_leave_it BEFORE UPDATE ON purchases FOR EACH ROW EXECUTE FUNCTION leave_it()",
    );
    let before = env.count("purchase_history");
    let of = merchant.authority.organisation;
    let refused = env.store.record(order.id, of, vended("V1", 1_000)).await;
    let Err(RecordError::Unacknowledged(error)) = refused else { panic!("{refused:?}") };
    assert!(
        matches!(&*error, DatabaseError::Rejected { constraint, .. } if constraint == "purchases_change_as_locked"),
        "{error:?}"
    );
    assert!(!error.may_be_committed());
    assert_eq!((env.state(order.id).as_str(), env.count("purchase_history")), ("IN_FLIGHT", before));
    assert_eq!((env.count("journal_entries WHERE kind = 'SETTLE'"), env.count("outbox")), (0, 0));
    assert_eq!(env.balances(merchant.wallet), "50000|1150");

    env.sql("DROP TRIGGER a_leave_it ON purchases");
    env.store.record(order.id, of, vended("V1", 1_000)).await.unwrap();
    assert_eq!(env.balances(merchant.wallet), "48850|0");
}

#[tokio::test]
async fn while_a_wallet_is_locked_reserves_are_refused_and_records_are_retried() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    let mut hasty = settings(&env.database);
    hasty.lock_timeout_ms = 100;
    let store = connect(hasty).await;
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(merchant.wallet))).await.unwrap();

    let recording = tokio::spawn({
        let (store, order) = (store.clone(), order.clone());
        async move { store.record(order.id, order.authority.organisation, vended("V1", 1_000)).await }
    });
    for number in 2..5 {
        let order = env.order(&merchant, &format!("0400000000{number}"), 1_000).await;
        let turned_away = store.reserve(order).await;
        assert!(matches!(turned_away, Err(ReserveError::Overloaded)), "{turned_away:?}");
    }
    assert!(!recording.is_finished());
    assert_eq!(env.balances(merchant.wallet), "50000|1150");

    holder.batch_execute("ROLLBACK").await.unwrap();
    let recorded = tokio::time::timeout(Duration::from_secs(30), recording).await.unwrap().unwrap();
    assert_eq!(recorded.unwrap().lifecycle.state.name(), StateName::Successful);
    assert_eq!(env.balances(merchant.wallet), "48850|0");
}

#[tokio::test]
async fn a_wallet_that_is_kept_locked_holds_up_the_reserves_of_no_other_for_long() {
    let env = TestEnv::open().await;
    let (locked, free) = (env.merchant_with(50_000).await, env.merchant_with(50_000).await);
    let (order, _) = env.reserved(&locked, "04000000001", 1_000).await;
    let mut hasty = settings(&env.database);
    (hasty.lock_timeout_ms, hasty.lanes) = (100, Some(1));
    let store = connect(hasty).await;
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(locked.wallet))).await.unwrap();
    let recording = tokio::spawn({
        let store = store.clone();
        async move { store.record(order.id, order.authority.organisation, vended("V1", 1_000)).await }
    });
    // Once the record is held back, it is retried apart from the reserves.
    let mut reserved = 0;
    for number in 2..12 {
        let order = env.order(&free, &format!("04000000{number:03}"), 1_000).await;
        reserved += u32::from(store.reserve(order).await.is_ok());
    }
    assert!(reserved >= 9, "{reserved} of 10");
    holder.batch_execute("ROLLBACK").await.unwrap();
    recording.await.unwrap().unwrap();
}

#[tokio::test]
async fn without_the_database_reserves_are_refused_and_records_wait_for_its_return() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    let late = env.order(&merchant, "04000000002", 1_000).await;
    let name = env.database.name().to_owned();
    let elsewhere = local_postgres::LocalPostgres::shared().create_database(&format!("{name}_side")).unwrap();
    let close = format!(
        "ALTER DATABASE {name} ALLOW_CONNECTIONS false;
         SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'"
    );
    elsewhere.run_sql(&close).unwrap();

    let recording = tokio::spawn({
        let store = env.store.clone();
        async move { store.record(order.id, order.authority.organisation, vended("V1", 1_000)).await }
    });
    let turned_away = env.store.reserve(late).await;
    assert!(matches!(turned_away, Err(ReserveError::Overloaded)), "{turned_away:?}");
    assert!(!recording.is_finished());
    elsewhere.run_sql(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")).unwrap();
    let recorded = tokio::time::timeout(Duration::from_secs(30), recording).await.unwrap().unwrap();
    assert_eq!(recorded.unwrap().lifecycle.state.name(), StateName::Successful);
    until("the settlement is there", || env.balances(merchant.wallet) == "48850|0").await;
}
