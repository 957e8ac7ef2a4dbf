//! What the worker claims: due and free purchases, under the next fence, each by one worker at a time.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::NewProvider;
use purchase::{Event, Fence, Handling, PurchaseId, Record, RefusalSource, StateName};
use store::{ClaimedPurchase, DueSlots, Reservation, Store, Verdict};
use vend::{Capabilities, Doubt, Refusal, RefusalReason};

use crate::env::{FIRST, Merchant, PROVIDER, TestEnv, act, connect, settings, vended};

fn slots(provider_code: &str, slots: u16) -> DueSlots {
    DueSlots { provider_code: provider_code.into(), slots, since: None, in_hand: BTreeMap::new() }
}

async fn claims(store: &Store, most: u16) -> Vec<ClaimedPurchase> {
    store.claim_due(vec![slots(PROVIDER, most)]).await.unwrap()
}

fn ids(claimed: &[ClaimedPurchase]) -> Vec<PurchaseId> {
    claimed.iter().map(|claimed| claimed.record.id).collect()
}

fn lost() -> Event {
    Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() }
}

impl TestEnv {
    /// A purchase in doubt, due this many seconds ago.
    async fn due(&self, merchant: &Merchant, meter: &str, seconds_ago: u32) -> Reservation {
        let (order, _) = self.reserved(merchant, meter, 1_000).await;
        self.records(&order, lost()).await;
        self.is_due(order.id, seconds_ago);
        order
    }

    /// Some of them, each with its meter and since how many seconds it is due.
    async fn all_due<const N: usize>(
        &self,
        merchant: &Merchant,
        orders: [(&str, u32); N],
    ) -> Vec<PurchaseId> {
        let mut ids = Vec::new();
        for (meter, seconds_ago) in orders {
            ids.push(self.due(merchant, meter, seconds_ago).await.id);
        }
        ids
    }

    fn is_due(&self, id: PurchaseId, seconds_ago: u32) {
        self.sql(&format!(
            "UPDATE purchases SET due_at = now() - interval '{seconds_ago} s' WHERE id = {}",
            id.0
        ));
    }

    /// Ends all leases now, by the database's clock.
    fn leases_end(&self) {
        self.sql("UPDATE purchases SET lease_until = now(), due_at = now() WHERE lease_until IS NOT NULL");
    }
}

#[tokio::test]
async fn a_claim_raises_the_fence_and_stands_in_the_history() {
    let env = TestEnv::open().await;
    let declared = Capabilities { repeat_is_safe: true, not_found_counts: true, ..Capabilities::default() };
    env.declare(declared).await;
    let merchant = env.merchant_with(20_000).await;
    let order = env.due(&merchant, "04257670465", 1).await;

    let claimed = claims(&env.store, 8).await;
    assert_eq!(ids(&claimed), [order.id]);
    let claim = &claimed[0];
    assert_eq!(
        (claim.record.lifecycle.fence, claim.record.lifecycle.state.name()),
        (Fence(2), StateName::InDoubt)
    );
    assert!(claim.record.lifecycle.is_leased(claim.at));
    assert_eq!(claim.declared, declared);
    let read = env.store.get_record(order.id).await.unwrap();
    assert_eq!(claim.record, Record { recovery: None, ..read }, "only a read computes the recovery");
    let history = "SELECT fact, state, fence, attempt FROM purchase_events ORDER BY id DESC LIMIT 1";
    assert_eq!(env.sql(history), "CLAIMED|IN_DOUBT|2|1");
    assert_eq!(env.sql("SELECT due_at = lease_until FROM purchases"), "t");

    let outpaced =
        env.records(&order, Event::LeaseReleased { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    assert!(matches!(outpaced.verdict, Verdict::Illegal(_)));
    let settled = env.records(&order, vended("V1", 1_000)).await;
    assert_eq!(settled.lifecycle.state.name(), StateName::Successful);
}

#[tokio::test]
async fn a_purchase_is_left_alone_until_its_lease_ends_by_the_databases_clock() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    for fence in 2..5 {
        assert_eq!(ids(&claims(&env.store, 8).await), [], "before fence {fence}");
        env.leases_end();
        let claimed = claims(&env.store, 8).await;
        assert_eq!(ids(&claimed), [order.id]);
        let lifecycle = &claimed[0].record.lifecycle;
        assert_eq!((lifecycle.fence, lifecycle.state.name()), (Fence(fence), StateName::InDoubt));
    }
}

#[tokio::test]
async fn what_has_been_due_longest_comes_first_and_no_more_than_there_are_slots_for() {
    let env = TestEnv::open().await;
    let water = NewProvider { code: "WUC".into(), name: "Water".into(), declared: Capabilities::default() };
    catalogue::put_provider(env.operator.database(), water, act()).await.unwrap();
    let merchant = env.merchant_with(200_000).await;
    let power = env.all_due(&merchant, [("04000000001", 10), ("04000000002", 30), ("04000000003", 20)]).await;
    let mut others = Vec::new();
    for (meter, seconds_ago) in [("04000000004", 40), ("04000000005", 50)] {
        let id = env.due(&merchant, meter, seconds_ago).await.id;
        env.sql(&format!("UPDATE purchases SET provider_code = 'WUC' WHERE id = {}", id.0));
        others.push(id);
    }
    let free = [slots(PROVIDER, 2), slots("WUC", 1), slots("NOBODY", 5)];
    let claimed = env.store.claim_due(free.to_vec()).await.unwrap();
    assert_eq!(ids(&claimed), [others[1], power[1], power[2]]);
    assert_eq!(env.store.claim_due(vec![slots("WUC", 0)]).await.unwrap().len(), 0);
    let claimed = env.store.claim_due(free.to_vec()).await.unwrap();
    assert_eq!(ids(&claimed), [others[0], power[0]]);
    assert_eq!(env.store.claim_due(free.to_vec()).await.unwrap().len(), 0);
}

#[tokio::test]
async fn organisations_take_turns_so_a_backlog_of_one_delays_no_other() {
    let env = TestEnv::open().await;
    let (kgale, phaka) = (env.merchant_with(200_000).await, env.merchant_with(200_000).await);
    let backlog =
        env.all_due(&kgale, [("04000000001", 600), ("04000000002", 500), ("04000000003", 400)]).await;
    let alone = env.due(&phaka, "04000000004", 1).await.id;
    let next = |in_hand: u16, most: u16| {
        let of_kgale = BTreeMap::from([(kgale.authority.organisation, in_hand)]);
        env.store.claim_due(vec![DueSlots { in_hand: of_kgale, ..slots(PROVIDER, most) }])
    };
    assert_eq!(ids(&next(0, 1).await.unwrap()), [backlog[0]], "both have none in hand, and this is older");
    assert_eq!(ids(&next(1, 1).await.unwrap()), [alone], "the other has fewer in hand");
    let later = env.due(&phaka, "04000000005", 0).await.id;
    let both: BTreeSet<PurchaseId> = ids(&next(0, 2).await.unwrap()).into_iter().collect();
    assert_eq!(both, BTreeSet::from([backlog[1], later]));
    assert_eq!(ids(&next(9, 8).await.unwrap()), [backlog[2]], "slots that no other needs are its own");
}

#[tokio::test]
async fn a_claim_tells_the_oldest_due_time_and_the_next_one_may_begin_there() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(200_000).await;
    let due = env.all_due(&merchant, [("04000000001", 60), ("04000000002", 40), ("04000000003", 20)]).await;
    let first = claims(&env.store, 1).await;
    assert_eq!(ids(&first), due[..1]);
    let since = first[0].oldest_due.unwrap();
    assert_eq!((first[0].at - since).num_seconds(), 60);
    let from = |since| env.store.claim_due(vec![DueSlots { since: Some(since), ..slots(PROVIDER, 8) }]);
    let last = from(since + chrono::TimeDelta::seconds(30)).await.unwrap();
    assert_eq!(ids(&last), due[2..], "what was due before is left to a claim that looks at everything");
    assert_eq!((last[0].at - last[0].oldest_due.unwrap()).num_seconds(), 20);
    assert_eq!(ids(&from(since).await.unwrap()), due[1..2]);
}

#[tokio::test]
async fn the_oldest_due_time_is_not_told_if_an_organisation_was_not_looked_at() {
    let env = TestEnv::open().await;
    let (kgale, phaka) = (env.merchant_with(200_000).await, env.merchant_with(200_000).await);
    env.due(&kgale, "04000000001", 60).await;
    let alone = env.due(&phaka, "04000000002", 1).await.id;
    let of_kgale = BTreeMap::from([(kgale.authority.organisation, 9)]);
    let claimed =
        env.store.claim_due(vec![DueSlots { in_hand: of_kgale, ..slots(PROVIDER, 1) }]).await.unwrap();
    assert_eq!((ids(&claimed), claimed[0].oldest_due), (vec![alone], None));
}

#[tokio::test]
async fn what_is_not_due_yet_and_what_has_ended_is_never_claimed() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(200_000).await;
    let (sold, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    env.records(&sold, vended("V1", 1_000)).await;
    let (failed, _) = env.reserved(&merchant, "04000000002", 1_000).await;
    env.records(&failed, Event::NeverSent { fence: FIRST }).await;
    let (in_doubt, _) = env.reserved(&merchant, "04000000003", 1_000).await;
    env.records(&in_doubt, lost()).await;
    env.reserved(&merchant, "04000000004", 1_000).await;
    assert_eq!(ids(&claims(&env.store, 8).await), []);
    assert_eq!(env.count("purchases WHERE due_at IS NULL"), 2);
    for broken in [
        format!("UPDATE purchases SET due_at = NULL WHERE id = {}", in_doubt.id.0),
        "ALTER TABLE purchases DISABLE TRIGGER purchases_end_once;
         UPDATE purchases SET due_at = now() WHERE state = 'FAILED'"
            .to_owned(),
    ] {
        let refused = env.database.run_sql(&format!("BEGIN; {broken}; COMMIT")).unwrap_err();
        assert!(refused.to_string().contains("purchases_due_while_open"), "{refused}");
    }
}

#[tokio::test]
async fn every_move_sets_when_the_worker_looks_again() {
    let env = TestEnv::open().await;
    let merchant = env.merchant(200_000, Handling::Managed).await;
    let due_in = |order: &Reservation| {
        env.sql(&format!(
            "SELECT round(extract(epoch FROM due_at - created_at)) FROM purchases WHERE id = {}",
            order.id.0
        ))
    };
    let (order, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    assert_eq!(due_in(&order), "60", "its sender's lease");
    env.records(&order, lost()).await;
    assert_eq!(due_in(&order), "5", "the first look");
    let (busy, _) = env.reserved(&merchant, "04000000002", 1_000).await;
    let refusal = Refusal::because(RefusalReason::Busy);
    env.records(&busy, Event::Refused { fence: FIRST, refusal, source: RefusalSource::Answer }).await;
    assert_eq!((env.state(busy.id).as_str(), due_in(&busy).as_str()), ("RETRY_DUE", "60"));
    let claimed = env.records(&order, Event::Claimed).await;
    assert_eq!(due_in(&order), "60", "its new holder's lease");
    env.records(&order, vended("V1", 1_000)).await;
    assert_eq!((claimed.lifecycle.fence, due_in(&order).as_str()), (Fence(2), ""));
}

#[tokio::test]
async fn a_locked_purchase_is_left_out_and_not_waited_for() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(200_000).await;
    let held = env.due(&merchant, "04000000001", 30).await;
    let free = env.due(&merchant, "04000000002", 10).await;
    let holder = env.session().await;
    let lock = format!("BEGIN; SELECT FROM purchases WHERE id = {} FOR NO KEY UPDATE", held.id.0);
    holder.batch_execute(&lock).await.unwrap();
    assert_eq!(ids(&claims(&env.store, 1).await), [free.id]);
    assert_eq!(ids(&claims(&env.store, 8).await), []);
    holder.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(ids(&claims(&env.store, 8).await), [held.id]);
}

#[tokio::test]
async fn a_claim_waits_for_no_wallet() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(200_000).await;
    let order = env.due(&merchant, "04000000001", 30).await;
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", crate::env::lock_of(merchant.wallet))).await.unwrap();
    assert_eq!(ids(&claims(&env.store, 8).await), [order.id]);
    holder.batch_execute("ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn a_purchase_that_may_not_be_claimed_is_left_as_it_is_and_delays_no_other() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(200_000).await;
    let (leased, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    env.is_due(leased.id, 60);
    let unreadable = env.due(&merchant, "04000000002", 30).await;
    let nonsense = "UPDATE purchases SET provider_reference = 'nonsense' WHERE id =";
    env.sql("ALTER TABLE attempts DISABLE TRIGGER attempts_are_append_only");
    env.sql(&format!(
        "{nonsense} {0}; UPDATE attempts SET provider_reference = 'nonsense' WHERE purchase_id = {0}",
        unreadable.id.0
    ));
    let order = env.due(&merchant, "04000000003", 10).await;
    assert_eq!(ids(&claims(&env.store, 1).await), [], "the first in line cannot be claimed");
    assert_eq!(ids(&claims(&env.store, 1).await), [], "nor can the second");
    assert_eq!(ids(&claims(&env.store, 1).await), [order.id]);
    assert_eq!(env.sql("SELECT fence FROM purchases ORDER BY id"), "1\n1\n2");
    let later = "SELECT count(*) FROM purchases WHERE fence = 1 AND due_at > now() + interval '10 minutes'";
    assert_eq!(env.sql(later), "2", "they are due again later and delay no other purchase");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_at_once_share_the_work_and_never_get_the_same_purchase() {
    const DUE: usize = 120;
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10_000_000).await;
    for number in 0..DUE {
        let seconds_ago = u32::try_from(number % 7).unwrap();
        env.due(&merchant, &format!("04{number:09}"), seconds_ago + 1).await;
    }
    let workers = [env.store.clone(), connect(settings(&env.database)).await];
    let barrier = std::sync::Arc::new(tokio::sync::Barrier::new(workers.len()));
    let working = workers.map(|store| {
        let barrier = barrier.clone();
        tokio::spawn(async move {
            let mut mine = Vec::new();
            barrier.wait().await;
            for _round in 0..DUE {
                mine.extend(ids(&claims(&store, 5).await));
            }
            mine
        })
    });
    let mut all = Vec::new();
    for worker in working {
        let mine = worker.await.unwrap();
        assert!(!mine.is_empty(), "one worker did all the work");
        all.extend(mine);
    }
    let different: BTreeSet<PurchaseId> = all.iter().copied().collect();
    assert_eq!((all.len(), different.len()), (DUE, DUE));
    assert_eq!(env.count("purchases WHERE fence = 2"), i64::try_from(DUE).unwrap());
    assert_eq!(env.count("purchase_events WHERE fact = 'CLAIMED'"), i64::try_from(DUE).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_and_lanes_on_the_same_purchases_neither_deadlock_nor_lose_anything() {
    const DUE: usize = 60;
    let env = std::sync::Arc::new(TestEnv::open().await);
    let merchant = env.merchant_with(10_000_000).await;
    let mut orders = Vec::new();
    for number in 0..DUE {
        orders.push(env.due(&merchant, &format!("04{number:09}"), 1).await);
    }
    let store = connect(settings(&env.database)).await;
    let claiming = tokio::spawn(async move {
        let mut claimed = 0;
        for _round in 0..DUE {
            claimed += claims(&store, 4).await.len();
        }
        claimed
    });
    let mut settling = tokio::task::JoinSet::new();
    for (number, order) in orders.into_iter().enumerate() {
        let store = env.store.clone();
        let event = vended(&format!("V{number}"), 1_000);
        settling.spawn(async move { store.record(order.id, order.authority.organisation, event).await });
    }
    for settled in settling.join_all().await {
        assert_eq!(settled.unwrap().lifecycle.state.name(), StateName::Successful);
    }
    let claimed = claiming.await.unwrap();
    assert_eq!(env.count("purchase_events WHERE fact = 'CLAIMED'"), i64::try_from(claimed).unwrap());
    assert_eq!(env.count("purchases WHERE state = 'SUCCESSFUL'"), i64::try_from(DUE).unwrap());
}
