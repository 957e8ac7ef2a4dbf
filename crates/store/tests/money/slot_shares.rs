//! The slots of a provider, shared by all workers: never more together than it has, and those of a dead worker come back.

use std::{collections::BTreeMap, time::Duration};

use futures_util::future::join_all;
use purchase::Timing;
use store::{Store, WantedSlots, WorkerId};
use test_kit::database::{WORKER, settings_as};

use crate::env::{PROVIDER, TestEnv, connect_with, timing};

/// The worker with the lowest number.
const FIRST: WorkerId = WorkerId(-5);
const SECOND: WorkerId = WorkerId(3);
const THIRD: WorkerId = WorkerId(9);

async fn worker(env: &TestEnv) -> Store {
    connect_with(settings_as(WORKER, &env.database), &timing()).await
}

impl TestEnv {
    fn has_slots(&self, slots: u16) {
        self.sql(&format!("UPDATE providers SET worker_slots = {slots} WHERE code = '{PROVIDER}'"));
    }

    /// Ends the lease of this worker's shares now.
    fn dies(&self, worker: WorkerId) {
        self.sql(&format!("UPDATE slot_shares SET lease_until = now() WHERE worker = {}", worker.0));
    }

    fn shared(&self) -> u16 {
        self.sql("SELECT coalesce(sum(slots), 0) FROM slot_shares").parse().unwrap()
    }
}

/// The share of a worker that would take 64 slots and has this many in hand.
async fn share(store: &Store, worker: WorkerId, in_hand: u16) -> u16 {
    share_of(store, worker, 64, in_hand).await
}

async fn share_of(store: &Store, worker: WorkerId, most: u16, in_hand: u16) -> u16 {
    let wanted = WantedSlots { provider_code: PROVIDER.into(), most, in_hand };
    store.renew_slot_shares(worker, vec![wanted]).await.unwrap()[PROVIDER]
}

#[tokio::test]
async fn a_worker_has_all_slots_alone_and_its_part_among_others() {
    let env = TestEnv::open().await;
    let store = worker(&env).await;
    env.has_slots(8);
    assert_eq!(share(&store, FIRST, 0).await, 8);
    assert_eq!(share_of(&store, FIRST, 5, 0).await, 5, "no more than it takes");
    assert_eq!(share(&store, FIRST, 0).await, 8);

    assert_eq!(share(&store, SECOND, 0).await, 0, "the first one has not given anything up yet");
    assert_eq!(share(&store, FIRST, 6).await, 6, "it has six in hand");
    assert_eq!(share(&store, SECOND, 0).await, 2);
    assert_eq!(share(&store, FIRST, 1).await, 4);
    assert_eq!(share(&store, SECOND, 2).await, 4);

    share(&store, THIRD, 0).await;
    let mut shares = Vec::new();
    for worker in [SECOND, FIRST, THIRD] {
        shares.push(share(&store, worker, 0).await);
    }
    assert_eq!(shares, [3, 3, 2], "what is left over goes to the lowest numbers");
}

#[tokio::test]
async fn the_slots_of_a_dead_worker_return_when_its_lease_ends() {
    let env = TestEnv::open().await;
    let store = worker(&env).await;
    env.has_slots(8);
    share(&store, FIRST, 0).await;
    share(&store, SECOND, 0).await;
    share(&store, FIRST, 8).await;
    assert_eq!(share(&store, SECOND, 0).await, 0);
    let lease = env.sql("SELECT max(lease_until) > now() + interval '50 s' FROM slot_shares");
    assert_eq!(lease, "t", "a share lives as long as a purchase's lease");
    env.dies(FIRST);
    assert_eq!(share(&store, SECOND, 0).await, 8);
    assert_eq!(env.sql("SELECT count(*) FROM slot_shares"), "1");
    assert_eq!(share(&store, FIRST, 8).await, 8, "what it still has in hand is told as it is");
    assert_eq!(share(&store, SECOND, 0).await, 0, "and the others make up for it");
}

#[tokio::test]
async fn a_worker_that_stops_leaves_its_slots_as_its_work_ends() {
    let env = TestEnv::open().await;
    let store = worker(&env).await;
    env.has_slots(8);
    assert_eq!(share(&store, FIRST, 0).await, 8);
    assert_eq!(share_of(&store, FIRST, 0, 3).await, 3);
    assert_eq!(share(&store, SECOND, 0).await, 5, "a worker that stops has no part in the division");
    assert_eq!(share_of(&store, FIRST, 0, 0).await, 0);
    assert_eq!(share(&store, SECOND, 5).await, 8);
    store.give_up_slot_shares(FIRST).await.unwrap();
    assert_eq!(env.sql("SELECT worker FROM slot_shares"), SECOND.0.to_string());
}

#[tokio::test]
async fn fewer_declared_slots_take_effect_at_the_next_renewal() {
    let env = TestEnv::open().await;
    let store = worker(&env).await;
    env.has_slots(8);
    assert_eq!(share(&store, FIRST, 0).await, 8);
    env.has_slots(2);
    assert_eq!(share(&store, FIRST, 5).await, 5);
    assert_eq!(share(&store, SECOND, 0).await, 0);
    assert_eq!(share(&store, FIRST, 0).await, 1);
    assert_eq!(share(&store, SECOND, 0).await, 1);
}

#[tokio::test]
async fn each_provider_has_slots_of_its_own_and_one_that_is_not_entered_has_none() {
    let env = TestEnv::open().await;
    let store = worker(&env).await;
    env.sql("INSERT INTO providers (code, name) VALUES ('WUC', 'Water')");
    env.has_slots(3);
    let wanted = [PROVIDER, "WUC", "GONE"];
    let wanted = wanted.map(|code| WantedSlots { provider_code: code.into(), most: 50, in_hand: 0 });
    let shares = store.renew_slot_shares(FIRST, wanted.into()).await.unwrap();
    assert_eq!(shares, BTreeMap::from([(PROVIDER.to_owned(), 3), ("WUC".to_owned(), 50)]));
}

#[tokio::test]
async fn workers_that_renew_at_once_never_have_more_slots_than_there_are() {
    let env = TestEnv::open().await;
    let store = worker(&env).await;
    env.has_slots(10);
    for round in 0..20 {
        let workers = (0..6).filter(|number| (number + round) % 5 != 0).map(WorkerId);
        join_all(workers.map(|worker| share(&store, worker, 0))).await;
        assert!(env.shared() <= 10, "round {round}: {}", env.sql("SELECT * FROM slot_shares"));
        env.dies(WorkerId(round % 6));
    }
    // By the end of the first renewal all are known, by that of the second those with too many have given them up.
    for _ in 0..3 {
        join_all((0..6).map(|number| share(&store, WorkerId(number), 0))).await;
    }
    assert_eq!(env.shared(), 10, "all slots are shared out");
}

#[tokio::test]
async fn a_share_that_was_not_renewed_in_time_is_gone() {
    let env = TestEnv::open().await;
    let lease = Duration::from_millis(50);
    let short = Timing { lease, gate: lease / 2, ..Timing::default() };
    let store = connect_with(settings_as(WORKER, &env.database), &short).await;
    env.has_slots(8);
    assert_eq!(share(&store, FIRST, 8).await, 8);
    let mut other = 0;
    for _ in 0..200 {
        other = share(&store, SECOND, 0).await;
        if other == 8 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(other, 8);
}
