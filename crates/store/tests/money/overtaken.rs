//! A record that meets a concurrent write: it is judged by the state that this write leaves, and never
//! overwrites it.

use purchase::{Event, Fence, Illegal, RefusalSource, Why};
use store::Verdict;
use test_kit::waiting::until;
use vend::{Refusal, RefusalReason};

use crate::env::{FIRST, TestEnv};

#[tokio::test]
async fn a_record_that_meets_a_claim_under_way_is_judged_by_what_the_claim_has_left() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    let before = env.balances(merchant.wallet);
    let claimer = env.session().await;
    let claim = format!(
        "BEGIN; UPDATE purchases SET state = 'IN_DOUBT', fence = 2, lease_until = now() + interval '185 s', \
         due_at = now() + interval '185 s' WHERE id = {0}; \
         INSERT INTO purchase_events (purchase_id, at, fact, state, fence, attempt) \
         VALUES ({0}, now(), 'CLAIMED', 'IN_DOUBT', 2, 1)",
        order.id.0
    );
    claimer.batch_execute(&claim).await.unwrap();

    let refusal = Refusal::because(RefusalReason::Blocked);
    let refused = Event::Refused { fence: FIRST, refusal, source: RefusalSource::Answer };
    let (store, id, of) = (env.store.clone(), order.id, order.authority.organisation);
    let record = tokio::spawn(async move { store.record(id, of, refused).await });
    let waits = "pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    until("the record waits for the claim", || env.count(waits) > 0).await;
    claimer.batch_execute("COMMIT").await.unwrap();

    let recorded = record.await.unwrap().unwrap();
    let is_stale = matches!(recorded.verdict, Verdict::Illegal(Illegal { why: Why::StaleFence, .. }));
    assert!(is_stale, "{:?}", recorded.verdict);
    assert_eq!(recorded.lifecycle.fence, Fence(2));
    assert_eq!(env.sql("SELECT state, fence FROM purchases"), "IN_DOUBT|2");
    assert_eq!(env.balances(merchant.wallet), before);
}
