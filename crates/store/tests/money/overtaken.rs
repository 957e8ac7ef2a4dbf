//! A record that meets somebody else's write half way: it is judged by what that has left, and never written over it.

use purchase::{Fact, Fence, Illegal, Told, Why};
use store::Verdict;
use vend::{Refusal, RefusalReason};

use crate::town::{FIRST, Town, until};

#[tokio::test]
async fn a_record_that_meets_a_claim_under_way_is_judged_by_what_the_claim_has_left() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 1_000).await;
    let before = town.balances(shop.wallet);
    let claimer = town.session().await;
    let claim = format!(
        "BEGIN; UPDATE purchases SET state = 'IN_DOUBT', fence = 2, lease_until = now() + interval '185 s', \
         due_at = now() + interval '185 s' WHERE id = {0}; \
         INSERT INTO purchase_events (purchase_id, at, fact, state, fence, attempt) \
         VALUES ({0}, now(), 'CLAIMED', 'IN_DOUBT', 2, 1)",
        order.id.0
    );
    claimer.batch_execute(&claim).await.unwrap();

    let refusal = Refusal::because(RefusalReason::Blocked);
    let refused = Fact::Refused { fence: FIRST, refusal, told: Told::InAnswer };
    let (store, id, of) = (town.store.clone(), order.id, order.authority.organisation);
    let record = tokio::spawn(async move { store.record(id, of, refused).await });
    let waits = "pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    until("the record waits for the claim", || town.count(waits) > 0).await;
    claimer.batch_execute("COMMIT").await.unwrap();

    let recorded = record.await.unwrap().unwrap();
    let is_stale = matches!(recorded.verdict, Verdict::Illegal(Illegal { why: Why::StaleFence, .. }));
    assert!(is_stale, "{:?}", recorded.verdict);
    assert_eq!(recorded.life.fence, Fence(2));
    assert_eq!(town.sql("SELECT state, fence FROM purchases"), "IN_DOUBT|2");
    assert_eq!(town.balances(shop.wallet), before);
}
