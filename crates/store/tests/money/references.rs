//! A retry that answers "not found" makes that answer true: the reference rests. A confirm that arrived
//! before the end of the rest does not buy under it.

use std::time::Duration;

use purchase::{OrganisationId, Timing};
use store::{ClosingOutcome, ReserveRefusal, RetryKey};
use test_kit::waiting::until;
use vend::SubscriberIdentifier;

use crate::env::{
    Merchant, TestEnv, abandoned, aged, connect, connect_with, lock_of, refusal, settings, vended,
};

const METER: &str = "04257670465";

fn key(merchant: &Merchant) -> RetryKey {
    RetryKey {
        organisation: merchant.authority.organisation,
        subscriber: SubscriberIdentifier::parse(METER).unwrap(),
        external_reference: format!("ref-{METER}"),
        product: None,
    }
}

/// Waits until this many sessions of the environment wait for locks.
pub async fn waiting(env: &TestEnv, sessions: u32) {
    let blocked = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until(&format!("{sessions} wait"), || env.sql(blocked) == sessions.to_string()).await;
}

/// Less than the maximum age of a request.
const A_WHILE: Duration = Duration::from_secs(15);

/// How long the reference still rests, according to the refusal of a confirm.
fn rests(refused: ReserveRefusal) -> Duration {
    let ReserveRefusal::ReferenceRests { wait } = refused else {
        panic!("refused for another reason: {refused:?}");
    };
    wait
}

/// Whether a rest of a minute has just begun.
fn is_a_minute(rest: Duration) -> bool {
    rest > Duration::from_secs(55) && rest <= Duration::from_mins(1)
}

#[tokio::test]
async fn after_not_found_the_reference_rests_and_no_other_does() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    assert!(env.store.find_for_retry(key(&merchant)).await.unwrap().is_none());

    for age in [A_WHILE, Duration::ZERO] {
        let mut order = env.order(&merchant, METER, 1_000).await;
        order.pending = aged(age);
        let rest = rests(refusal(env.store.reserve(order).await));
        assert!(is_a_minute(rest), "{rest:?}");
    }
    let mut of_another_name = env.order(&merchant, METER, 1_000).await;
    of_another_name.pending = aged(A_WHILE);
    of_another_name.request.external_reference = Some("another".into());
    env.store.reserve(of_another_name).await.unwrap();
    let mut elsewhere = env.order(&merchant, "04000000001", 1_000).await;
    elsewhere.pending = aged(A_WHILE);
    env.store.reserve(elsewhere).await.unwrap();
}

#[tokio::test]
async fn what_arrived_before_the_end_of_the_rest_buys_nothing_however_late_it_is_read() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let rest = Timing { reference_rest: Duration::from_millis(400), ..Timing::default() };
    let store = connect_with(settings(&env.database), &rest).await;
    let mut unread = env.order(&merchant, METER, 1_000).await;
    unread.pending = aged(Duration::ZERO);
    assert!(store.find_for_retry(key(&merchant)).await.unwrap().is_none());
    let is_over = "SELECT rests_until < clock_timestamp() FROM closed_references";
    until("the rest is over", || env.sql(is_over) == "t").await;

    assert_eq!(rests(refusal(store.reserve(unread).await)), Duration::ZERO);
    let mut fresh = env.order(&merchant, METER, 1_000).await;
    fresh.pending = aged(Duration::ZERO);
    store.reserve(fresh).await.unwrap();
    assert!(store.find_for_retry(key(&merchant)).await.unwrap().is_some());
}

#[tokio::test]
async fn after_a_failure_the_reference_rests_and_after_a_success_it_does_not() {
    let env = TestEnv::open().await;
    for (outcome, is_rest) in [(ClosingOutcome::NotBought, true), (ClosingOutcome::Bought, false)] {
        let merchant = env.merchant_with(50_000).await;
        let (order, _) = env.reserved(&merchant, METER, 1_000).await;
        env.records(&order, vended("V1", 1_000)).await;
        let closed = env.store.close_reference(key(&merchant), order.id, outcome).await.unwrap();
        assert!(closed.is_none());

        let mut early = env.order(&merchant, METER, 1_000).await;
        early.pending = aged(A_WHILE);
        let wait = rests(refusal(env.store.reserve(early).await));
        // A request counts as a little older than it is, so the first ones after the closing may still be refused.
        let mut is_admitted = false;
        for _ in 0..20 {
            let mut late = env.order(&merchant, METER, 1_000).await;
            late.pending = aged(Duration::ZERO);
            is_admitted = env.store.reserve(late).await.is_ok();
            if is_admitted {
                break;
            }
        }
        assert_eq!((is_a_minute(wait), is_admitted), (is_rest, !is_rest), "{outcome:?}: {wait:?}");
    }
}

#[tokio::test]
async fn a_later_answer_never_cuts_a_rest_short() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, METER, 1_000).await;
    env.records(&order, vended("V1", 1_000)).await;
    for outcome in [ClosingOutcome::NotBought, ClosingOutcome::Bought] {
        env.store.close_reference(key(&merchant), order.id, outcome).await.unwrap();
        let rest = "SELECT rests_until > clock_timestamp() + interval '50 s' FROM closed_references";
        assert_eq!(env.sql(rest), "t", "{outcome:?}");
    }
}

#[tokio::test]
async fn a_caller_that_hung_up_before_the_reserve_buys_nothing() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let mut order = env.order(&merchant, METER, 1_000).await;
    order.pending = abandoned();
    assert_eq!(refusal(env.store.reserve(order.clone()).await), ReserveRefusal::Abandoned);
    assert_eq!(env.count("purchases"), 0);

    // The second run of a reserve whose acknowledgement was lost finds the first run, even if the caller has
    // hung up.
    order.pending = aged(Duration::ZERO);
    let first = env.store.reserve(order.clone()).await.unwrap();
    order.pending = abandoned();
    assert_eq!(env.store.reserve(order).await.unwrap().lifecycle, first.lifecycle);
}

#[tokio::test]
async fn a_confirm_that_waits_behind_the_retry_grows_older_while_it_waits_and_is_refused() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let mut order = env.order(&merchant, METER, 1_000).await;
    order.pending = aged(Duration::ZERO);
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(merchant.wallet))).await.unwrap();

    let retry = tokio::spawn({
        let (store, key) = (env.store.clone(), key(&merchant));
        async move { store.find_for_retry(key).await }
    });
    waiting(&env, 1).await;
    let confirm = tokio::spawn({
        let store = env.store.clone();
        async move { store.reserve(order).await }
    });
    waiting(&env, 2).await;
    holder.batch_execute("ROLLBACK").await.unwrap();
    assert!(retry.await.unwrap().unwrap().is_none());
    assert!(is_a_minute(rests(refusal(confirm.await.unwrap()))));
    assert_eq!(env.count("purchases"), 0);
}

#[tokio::test]
async fn a_confirm_that_waits_in_the_lane_while_the_retry_answers_grows_older_there_too() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    // Another organisation of the same lane blocks the lane.
    let neighbour = loop {
        let merchant_of_lane = env.merchant_with(50_000).await;
        let same_lane = |id: OrganisationId| id.0 % 2 == merchant.authority.organisation.0 % 2;
        if same_lane(merchant_of_lane.authority.organisation) {
            break merchant_of_lane;
        }
    };
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(neighbour.wallet))).await.unwrap();
    let blocked = env.order(&neighbour, METER, 1_000).await;
    let store = env.store.clone();
    let blocked = tokio::spawn(async move { store.reserve(blocked).await });
    waiting(&env, 1).await;

    let mut order = env.order(&merchant, METER, 1_000).await;
    order.pending = aged(Duration::ZERO);
    let store = env.store.clone();
    let confirm = tokio::spawn(async move { store.reserve(order).await });
    tokio::task::yield_now().await;
    assert!(env.store.find_for_retry(key(&merchant)).await.unwrap().is_none());
    holder.batch_execute("ROLLBACK").await.unwrap();
    blocked.await.unwrap().unwrap();
    assert!(is_a_minute(rests(refusal(confirm.await.unwrap()))));
}

#[tokio::test]
async fn a_retry_that_waits_behind_the_confirm_finds_its_purchase() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let order = env.order(&merchant, METER, 1_000).await;
    let id = order.id;
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(merchant.wallet))).await.unwrap();
    let confirm = tokio::spawn({
        let store = env.store.clone();
        async move { store.reserve(order).await }
    });
    waiting(&env, 1).await;
    // In another process.
    let elsewhere = connect(settings(&env.database)).await;
    let sought = key(&merchant);
    let retry = tokio::spawn(async move { elsewhere.find_for_retry(sought).await });
    waiting(&env, 2).await;
    holder.batch_execute("ROLLBACK").await.unwrap();

    confirm.await.unwrap().unwrap();
    assert_eq!(retry.await.unwrap().unwrap().unwrap().record.id, id);
    assert_eq!(env.count("closed_references"), 0);
}

#[tokio::test]
async fn a_request_that_is_too_old_when_its_reserve_begins_is_refused() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let mut order = env.order(&merchant, "04000000001", 1_000).await;
    order.pending = aged(Duration::from_secs(21));
    assert_eq!(refusal(env.store.reserve(order.clone()).await), ReserveRefusal::TooLate);
    order.pending = aged(Duration::from_secs(19));
    env.store.reserve(order).await.unwrap();
    assert_eq!(env.sql("SELECT count(*) FROM purchases"), "1");
}
