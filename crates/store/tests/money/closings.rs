//! Closings of references that wait at the same time are one transaction. Each is decided by itself.

use purchase::PurchaseId;
use store::{ClosingOutcome, RetryKey, Store};
use tokio::task::JoinHandle;
use vend::SubscriberIdentifier;

use crate::{
    env::{Merchant, TestEnv, lock_of, vended},
    references::waiting,
};

/// The purchase that is the newest of its key instead of the known one.
type Newer = Option<PurchaseId>;

const METERS: i64 = 12;

fn meter(number: i64) -> String {
    format!("{:011}", 4_000_000_000 + number)
}

fn key(merchant: &Merchant, meter: &str) -> RetryKey {
    RetryKey {
        organisation: merchant.authority.organisation,
        subscriber: SubscriberIdentifier::parse(meter).unwrap(),
        external_reference: format!("ref-{meter}"),
        product: None,
    }
}

/// A purchase for a meter, which has ended.
async fn bought(env: &TestEnv, merchant: &Merchant, meter: &str) -> PurchaseId {
    let (order, _) = env.reserved(merchant, meter, 1_000).await;
    env.records(&order, vended(&format!("V{}", order.id.0), 1_000)).await;
    order.id
}

fn closing(store: &Store, key: RetryKey, known: PurchaseId, outcome: ClosingOutcome) -> JoinHandle<Newer> {
    let store = store.clone();
    tokio::spawn(async move {
        let newer = store.close_reference(key, known, outcome).await.unwrap();
        newer.map(|newer| newer.record.id)
    })
}

#[tokio::test]
async fn references_that_are_closed_at_the_same_time_share_few_commits() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let mut known = Vec::new();
    for number in 0..METERS {
        known.push(bought(&env, &merchant, &meter(number)).await);
    }
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(merchant.wallet))).await.unwrap();
    let closings: Vec<_> = (0..METERS)
        .zip(&known)
        .map(|(number, known)| {
            closing(&env.store, key(&merchant, &meter(number)), *known, ClosingOutcome::Bought)
        })
        .collect();
    waiting(&env, 2).await;
    holder.batch_execute("ROLLBACK").await.unwrap();

    for closing in closings {
        assert_eq!(closing.await.unwrap(), None);
    }
    assert_eq!(env.count("closed_references"), METERS);
    let commits = env.count("(SELECT DISTINCT xmin::text FROM closed_references) AS by_transaction");
    assert!(commits <= METERS / 2, "{commits} commits for {METERS} references");
}

#[tokio::test]
async fn of_references_that_are_closed_together_one_that_has_a_newer_purchase_stays_open() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let other = env.merchant_with(100_000).await;
    let [unchanged, overtaken] = [meter(1), meter(2)];
    let known = bought(&env, &merchant, &unchanged).await;
    let older = bought(&env, &merchant, &overtaken).await;
    let newest = bought(&env, &merchant, &overtaken).await;
    let elsewhere = bought(&env, &other, &overtaken).await;
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(merchant.wallet))).await.unwrap();
    // These two have the turns, and the others wait for one.
    let first: Vec<_> = (3..5)
        .map(|number| {
            let store = env.store.clone();
            let key = key(&merchant, &meter(number));
            tokio::spawn(async move { store.find_for_retry(key).await.unwrap().is_none() })
        })
        .collect();
    waiting(&env, 2).await;
    let closings = [
        closing(&env.store, key(&merchant, &unchanged), known, ClosingOutcome::Bought),
        closing(&env.store, key(&merchant, &unchanged), known, ClosingOutcome::NotBought),
        closing(&env.store, key(&merchant, &overtaken), older, ClosingOutcome::NotBought),
        closing(&env.store, key(&other, &overtaken), elsewhere, ClosingOutcome::Bought),
    ];
    tokio::task::yield_now().await;
    holder.batch_execute("ROLLBACK").await.unwrap();

    for first in first {
        assert!(first.await.unwrap(), "nothing was bought");
    }
    let [closed, closed_twice, left_open, of_the_other] = closings;
    assert_eq!(closed.await.unwrap(), None);
    assert_eq!(closed_twice.await.unwrap(), None);
    assert_eq!(left_open.await.unwrap(), Some(newest));
    assert_eq!(of_the_other.await.unwrap(), None);
    let closed = |of: &Merchant, meter: &str| {
        env.count(&format!(
            "closed_references WHERE organisation_id = {} AND subscriber_identifier = '{meter}'",
            of.authority.organisation.0
        ))
    };
    assert_eq!(
        [closed(&merchant, &unchanged), closed(&merchant, &overtaken), closed(&other, &overtaken)],
        [1, 0, 1]
    );
    // The longer of the two rests counts.
    let rest = format!(
        "SELECT rests_until > clock_timestamp() + interval '50 s' FROM closed_references WHERE subscriber_identifier = '{unchanged}'"
    );
    assert_eq!(env.sql(&rest), "t");
}
