//! Leases that their holders renew, and turns to ask: the SQL does what the pure rules say.

use std::time::Duration;

use purchase::{Event, Fence, StateName};
use store::HeldPurchase;
use vend::Doubt;

use crate::env::{FIRST, TestEnv, connect, settings, timing};

const METER: &str = "04257670465";

/// An instant of a purchase, as microseconds since its reserve.
fn since_reserve(env: &TestEnv, column: &str) -> Option<i64> {
    let microseconds =
        format!("SELECT (extract(epoch FROM {column} - created_at) * 1000000)::bigint FROM purchases");
    env.sql(&microseconds).parse().ok()
}

#[tokio::test]
async fn only_the_holder_renews_its_lease() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, reserved) = env.reserved(&merchant, METER, 1_000).await;
    let lease = i64::try_from(timing().lease.as_micros()).unwrap();
    assert_eq!(since_reserve(&env, "lease_until"), Some(lease));

    let stale = HeldPurchase { id: order.id, fence: Fence(7) };
    assert_eq!(env.store.renew_leases(vec![stale]).await.unwrap(), []);
    assert_eq!(since_reserve(&env, "lease_until"), Some(lease));

    let held = HeldPurchase { id: order.id, fence: reserved.lifecycle.fence };
    assert_eq!(env.store.renew_leases(vec![held, stale]).await.unwrap(), [held]);
    assert!(since_reserve(&env, "lease_until") > Some(lease));
    assert_eq!(env.sql("SELECT due_at = lease_until FROM purchases"), "t");
    assert_eq!(env.sql("SELECT count(*) FROM purchase_history"), "1", "a renewal is not in the history");

    env.records(&order, Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    assert_eq!(env.store.renew_leases(vec![held]).await.unwrap(), [], "the lease was released");
    assert_eq!(env.sql("SELECT lease_until IS NULL FROM purchases"), "t");
}

#[tokio::test]
async fn a_renewal_does_not_wait_for_a_locked_purchase() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (one, _) = env.reserved(&merchant, METER, 1_000).await;
    let (other, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    let holder = env.session().await;
    let lock = format!("BEGIN; SELECT FROM purchases WHERE id = {} FOR UPDATE", one.id.0);
    holder.batch_execute(&lock).await.unwrap();
    let held = [&one, &other].map(|order| HeldPurchase { id: order.id, fence: FIRST });
    let renewed = tokio::time::timeout(Duration::from_secs(1), env.store.renew_leases(held.to_vec())).await;
    assert_eq!(renewed.unwrap().unwrap(), &held[1..]);
    holder.batch_execute("ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn however_many_processes_ask_at_once_one_of_them_takes_the_turn() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, _) = env.reserved(&merchant, METER, 1_000).await;
    let elsewhere = connect(settings(&env.database)).await;
    let askers = (0..16).map(|nth| {
        let store = if nth % 2 == 0 { env.store.clone() } else { elsewhere.clone() };
        let id = order.id;
        tokio::spawn(async move { store.take_turn(id, FIRST).await.unwrap() })
    });
    let mut taken = 0;
    for asker in askers.collect::<Vec<_>>() {
        taken += u32::from(asker.await.unwrap());
    }
    assert_eq!(taken, 1);
}

#[tokio::test]
async fn a_turn_comes_again_after_the_gap_and_belongs_to_the_fence() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, reserved) = env.reserved(&merchant, METER, 1_000).await;
    assert!(!env.store.take_turn(order.id, Fence(2)).await.unwrap(), "it has not been claimed");
    assert!(env.store.take_turn(order.id, FIRST).await.unwrap());
    assert!(!env.store.take_turn(order.id, FIRST).await.unwrap());
    env.sql("UPDATE purchases SET asked_at = asked_at - interval '2 s'");
    assert!(env.store.take_turn(order.id, FIRST).await.unwrap());

    let record = env.store.get_record(order.id).await.unwrap();
    let asked_at = record.lifecycle.asked_at;
    assert!(asked_at.is_some());
    assert_eq!(record.lifecycle, purchase::Lifecycle { asked_at, ..reserved.lifecycle });
    let lost = Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() };
    let recorded = env.records(&order, lost).await;
    assert_eq!(
        (recorded.lifecycle.state.name(), recorded.lifecycle.asked_at),
        (StateName::InDoubt, asked_at)
    );
}
