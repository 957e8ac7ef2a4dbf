//! A retry that answers "not found" makes that answer true: the reference is closed for every confirm that had
//! begun by then, and open for those that begin later.

use std::time::Duration;

use purchase::OrganisationId;
use store::{Age, ReserveRefusal, RetryKey};
use vend::SubscriberIdentifier;

use crate::town::{Shop, Town, aged, connect, lock_of, refusal, settings, until};

const METER: &str = "04257670465";

fn key(shop: &Shop) -> RetryKey {
    RetryKey {
        organisation: shop.authority.organisation,
        subscriber: SubscriberIdentifier::parse(METER).unwrap(),
        external_reference: format!("ref-{METER}"),
        product: None,
    }
}

/// Waits until this many sessions of the town wait for locks.
pub async fn waiting(town: &Town, sessions: u32) {
    let blocked = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until(&format!("{sessions} wait"), || town.sql(blocked) == sessions.to_string()).await;
}

/// Less than a request may be old.
const A_WHILE: Duration = Duration::from_secs(15);

#[tokio::test]
async fn a_confirm_that_had_begun_before_the_answer_is_refused_and_a_later_one_is_not() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let mut early = town.order(&shop, METER, 1_000).await;
    assert!(town.store.find_for_retry(key(&shop)).await.unwrap().is_none());

    early.age = aged(A_WHILE);
    assert_eq!(refusal(town.store.reserve(early).await), ReserveRefusal::ReferenceClosed);
    let mut of_another_name = town.order(&shop, METER, 1_000).await;
    of_another_name.age = aged(A_WHILE);
    of_another_name.request.external_reference = Some("another".into());
    town.store.reserve(of_another_name).await.unwrap();
    let mut elsewhere = town.order(&shop, "04000000001", 1_000).await;
    elsewhere.age = aged(A_WHILE);
    town.store.reserve(elsewhere).await.unwrap();

    let shop = town.shop_with(50_000).await;
    assert!(town.store.find_for_retry(key(&shop)).await.unwrap().is_none());
    let mut late = town.order(&shop, METER, 1_000).await;
    late.age = aged(Duration::ZERO);
    let late = town.store.reserve(late).await;
    assert!(late.is_ok(), "{late:?}");
    assert!(town.store.find_for_retry(key(&shop)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_confirm_that_waits_behind_the_retry_grows_older_while_it_waits_and_is_refused() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let mut order = town.order(&shop, METER, 1_000).await;
    order.age = aged(Duration::ZERO);
    let holder = town.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(shop.wallet))).await.unwrap();

    let retry = tokio::spawn({
        let (store, key) = (town.store.clone(), key(&shop));
        async move { store.find_for_retry(key).await }
    });
    waiting(&town, 1).await;
    let confirm = tokio::spawn({
        let store = town.store.clone();
        async move { store.reserve(order).await }
    });
    waiting(&town, 2).await;
    holder.batch_execute("ROLLBACK").await.unwrap();
    assert!(retry.await.unwrap().unwrap().is_none());
    assert_eq!(refusal(confirm.await.unwrap()), ReserveRefusal::ReferenceClosed);
    assert_eq!(town.count("purchases"), 0);
}

#[tokio::test]
async fn a_confirm_that_waits_in_the_lane_while_the_retry_answers_grows_older_there_too() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    // Another organisation of the same lane holds the lane up.
    let neighbour = loop {
        let shop_of_lane = town.shop_with(50_000).await;
        let same_lane = |id: OrganisationId| id.0 % 2 == shop.authority.organisation.0 % 2;
        if same_lane(shop_of_lane.authority.organisation) {
            break shop_of_lane;
        }
    };
    let holder = town.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(neighbour.wallet))).await.unwrap();
    let blocked = town.order(&neighbour, METER, 1_000).await;
    let store = town.store.clone();
    let blocked = tokio::spawn(async move { store.reserve(blocked).await });
    waiting(&town, 1).await;

    let mut order = town.order(&shop, METER, 1_000).await;
    order.age = aged(Duration::ZERO);
    let store = town.store.clone();
    let confirm = tokio::spawn(async move { store.reserve(order).await });
    tokio::task::yield_now().await;
    assert!(town.store.find_for_retry(key(&shop)).await.unwrap().is_none());
    holder.batch_execute("ROLLBACK").await.unwrap();
    blocked.await.unwrap().unwrap();
    assert_eq!(refusal(confirm.await.unwrap()), ReserveRefusal::ReferenceClosed);
}

#[tokio::test]
async fn a_retry_that_waits_behind_the_confirm_finds_its_purchase() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let order = town.order(&shop, METER, 1_000).await;
    let id = order.id;
    let holder = town.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(shop.wallet))).await.unwrap();
    let confirm = tokio::spawn({
        let store = town.store.clone();
        async move { store.reserve(order).await }
    });
    waiting(&town, 1).await;
    // In another process.
    let elsewhere = connect(settings(&town.database)).await;
    let sought = key(&shop);
    let retry = tokio::spawn(async move { elsewhere.find_for_retry(sought).await });
    waiting(&town, 2).await;
    holder.batch_execute("ROLLBACK").await.unwrap();

    confirm.await.unwrap().unwrap();
    assert_eq!(retry.await.unwrap().unwrap().unwrap().record.id, id);
    assert_eq!(town.count("closed_references"), 0);
}

#[tokio::test]
async fn a_request_is_as_old_as_it_is_when_its_reserve_has_begun_and_too_old_is_refused() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let mut order = town.order(&shop, "04000000001", 1_000).await;
    order.age = Age::told_by(|| Duration::from_secs(21));
    assert_eq!(refusal(town.store.reserve(order.clone()).await), ReserveRefusal::TooLate);
    order.age = Age::told_by(|| Duration::from_secs(20));
    town.store.reserve(order).await.unwrap();
    assert_eq!(town.sql("SELECT count(*) FROM purchases"), "1");
}
