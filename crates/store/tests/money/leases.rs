//! Leases that their holders renew, and turns to ask: what the SQL does is what the pure rules say.

use std::time::Duration;

use purchase::{Fact, Fence, StateName};
use store::HeldPurchase;
use vend::Doubt;

use crate::town::{FIRST, Town, connect, settings, timing};

const METER: &str = "04257670465";

/// An instant of a purchase, as microseconds since its reserve.
fn since_reserve(town: &Town, column: &str) -> Option<i64> {
    let microseconds =
        format!("SELECT (extract(epoch FROM {column} - created_at) * 1000000)::bigint FROM purchases");
    town.sql(&microseconds).parse().ok()
}

#[tokio::test]
async fn a_holder_renews_its_lease_and_nobody_else_does() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, reserved) = town.reserved(&shop, METER, 1_000).await;
    let lease = i64::try_from(timing().lease.as_micros()).unwrap();
    assert_eq!(since_reserve(&town, "lease_until"), Some(lease));

    let stale = HeldPurchase { id: order.id, fence: Fence(7) };
    assert_eq!(town.store.renew_leases(vec![stale]).await.unwrap(), []);
    assert_eq!(since_reserve(&town, "lease_until"), Some(lease));

    let held = HeldPurchase { id: order.id, fence: reserved.life.fence };
    assert_eq!(town.store.renew_leases(vec![held, stale]).await.unwrap(), [held]);
    assert!(since_reserve(&town, "lease_until") > Some(lease));
    assert_eq!(town.sql("SELECT due_at = lease_until FROM purchases"), "t");
    assert_eq!(town.sql("SELECT count(*) FROM purchase_events"), "1", "a renewal leaves no line of history");

    town.records(&order, Fact::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    assert_eq!(town.store.renew_leases(vec![held]).await.unwrap(), [], "it was given up");
    assert_eq!(town.sql("SELECT lease_until IS NULL FROM purchases"), "t");
}

#[tokio::test]
async fn a_renewal_waits_for_nobody() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (one, _) = town.reserved(&shop, METER, 1_000).await;
    let (other, _) = town.reserved(&shop, "04000000001", 1_000).await;
    let holder = town.session().await;
    let lock = format!("BEGIN; SELECT FROM purchases WHERE id = {} FOR UPDATE", one.id.0);
    holder.batch_execute(&lock).await.unwrap();
    let held = [&one, &other].map(|order| HeldPurchase { id: order.id, fence: FIRST });
    let renewed = tokio::time::timeout(Duration::from_secs(1), town.store.renew_leases(held.to_vec())).await;
    assert_eq!(renewed.unwrap().unwrap(), &held[1..]);
    holder.batch_execute("ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn however_many_processes_ask_at_once_one_of_them_takes_the_turn() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, _) = town.reserved(&shop, METER, 1_000).await;
    let elsewhere = connect(settings(&town.database)).await;
    let askers = (0..16).map(|nth| {
        let store = if nth % 2 == 0 { town.store.clone() } else { elsewhere.clone() };
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
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, reserved) = town.reserved(&shop, METER, 1_000).await;
    assert!(!town.store.take_turn(order.id, Fence(2)).await.unwrap(), "it has not been claimed");
    assert!(town.store.take_turn(order.id, FIRST).await.unwrap());
    assert!(!town.store.take_turn(order.id, FIRST).await.unwrap());
    town.sql("UPDATE purchases SET asked_at = asked_at - interval '2 s'");
    assert!(town.store.take_turn(order.id, FIRST).await.unwrap());

    let record = town.store.get_record(order.id).await.unwrap();
    let asked_at = record.life.asked_at;
    assert!(asked_at.is_some());
    assert_eq!(record.life, purchase::Life { asked_at, ..reserved.life });
    let lost = Fact::Lost { fence: FIRST, why: Doubt::TimedOut.into() };
    let recorded = town.records(&order, lost).await;
    assert_eq!((recorded.life.state.name(), recorded.life.asked_at), (StateName::InDoubt, asked_at));
}
