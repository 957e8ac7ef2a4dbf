//! A refusal under an idempotency key closes the key for every confirm that began before. A confirm that
//! begins later may use the key.

use std::time::Duration;

use database::DatabaseError;
use purchase::{Event, IdempotencyKey, StateName};
use store::{KeyHolder, ReserveRefusal, Store};
use test_kit::wire::Cut;
use vend::Doubt;

use crate::{
    env::{FIRST, Merchant, TestEnv, aged, connect, is_pending, lock_of, refusal, settings},
    proxy::wired,
    references::waiting,
};

const KEY: &str = "till-3/0001";
const METER: &str = "04257670465";
const A_WHILE: Duration = Duration::from_secs(15);

/// Closes a merchant's key, unless a purchase holds it.
async fn close(store: &Store, merchant: Merchant, key: &str) -> Result<Option<KeyHolder>, DatabaseError> {
    let (of, key) = (merchant.authority, IdempotencyKey::parse(key).unwrap());
    store.close_key(of.organisation, of.client, key).await
}

#[tokio::test]
async fn a_confirm_that_had_begun_before_the_key_was_closed_is_refused_and_no_other_is() {
    let env = TestEnv::open().await;
    let (merchant, neighbour) = (env.merchant_with(50_000).await, env.merchant_with(50_000).await);
    assert_eq!(close(&env.store, merchant, KEY).await.unwrap(), None);
    let mut early = env.order_under(KEY, &merchant, METER, 1_000).await;
    early.pending = aged(A_WHILE);
    assert_eq!(refusal(env.store.reserve(early.clone()).await), ReserveRefusal::KeyClosed);
    assert_eq!((env.count("purchases"), env.balances(merchant.wallet)), (0, "50000|0".to_owned()));

    let of_another_key = env.order_under("till-3/0002", &merchant, "04000000001", 1_000).await;
    let without_a_key = env.order(&merchant, "04000000002", 1_000).await;
    let of_a_neighbour = env.order_under(KEY, &neighbour, "04000000003", 1_000).await;
    for mut order in [of_another_key, without_a_key, of_a_neighbour] {
        order.pending = aged(A_WHILE);
        env.store.reserve(order).await.unwrap();
    }
    early.pending = aged(Duration::ZERO);
    env.store.reserve(early.clone()).await.unwrap();
    // The purchase holds the key now, so the closing finds it. Its confirm also finds it, although the key
    // was closed after that confirm began.
    assert_eq!(close(&env.store, merchant, KEY).await.unwrap().unwrap().purchase, early.id);
    early.pending = aged(A_WHILE);
    assert_eq!(env.store.reserve(early).await.unwrap().lifecycle.state.name(), StateName::InFlight);
}

#[tokio::test]
async fn any_other_refusal_takes_precedence_over_a_closed_key() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    assert_eq!(close(&env.store, merchant, KEY).await.unwrap(), None);
    let mut early = env.order_under(KEY, &merchant, METER, 1_000).await;
    early.pending = aged(A_WHILE);
    env.reserved(&merchant, METER, 1_000).await;
    assert!(is_pending(refusal(env.store.reserve(early.clone()).await)));
    env.sql("UPDATE accounts SET status = 'SUSPENDED' WHERE house IS NULL");
    assert_eq!(refusal(env.store.reserve(early).await), ReserveRefusal::NotDebitable);
}

#[tokio::test]
async fn a_confirm_that_waits_behind_the_closing_grows_older_meanwhile_and_is_refused() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let mut order = env.order_under(KEY, &merchant, METER, 1_000).await;
    order.pending = aged(Duration::ZERO);
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(merchant.wallet))).await.unwrap();
    let store = env.store.clone();
    let closing = tokio::spawn(async move { close(&store, merchant, KEY).await });
    waiting(&env, 1).await;
    let store = env.store.clone();
    let confirm = tokio::spawn(async move { store.reserve(order).await });
    waiting(&env, 2).await;
    holder.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(closing.await.unwrap().unwrap(), None);
    assert_eq!(refusal(confirm.await.unwrap()), ReserveRefusal::KeyClosed);
    assert_eq!(env.count("purchases"), 0);
}

#[tokio::test]
async fn a_closing_that_waits_behind_the_confirm_finds_its_purchase_and_closes_nothing() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let order = env.order_under(KEY, &merchant, METER, 1_000).await;
    let (purchase, request) = (order.id, order.keyed.as_ref().unwrap().hash);
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(merchant.wallet))).await.unwrap();
    let store = env.store.clone();
    let confirm = tokio::spawn(async move { store.reserve(order).await });
    waiting(&env, 1).await;
    let elsewhere = connect(settings(&env.database)).await;
    let closing = tokio::spawn(async move { close(&elsewhere, merchant, KEY).await });
    waiting(&env, 2).await;
    holder.batch_execute("ROLLBACK").await.unwrap();

    confirm.await.unwrap().unwrap();
    let found = KeyHolder { purchase, request, state: StateName::InFlight };
    assert_eq!(closing.await.unwrap().unwrap(), Some(found));
    assert_eq!(env.count("closed_keys"), 0);
}

#[tokio::test]
async fn of_a_confirm_and_a_closing_at_once_one_sees_the_other() {
    let env = TestEnv::open().await;
    let elsewhere = connect(settings(&env.database)).await;
    let merchant = env.merchant_with(1_000_000).await;
    for round in 0..40 {
        let key = format!("key-{round}");
        let mut order = env.order_under(&key, &merchant, &format!("0400000{round:04}"), 1_000).await;
        order.pending = aged(A_WHILE);
        let (reserved, holder) = tokio::join!(env.store.reserve(order), close(&elsewhere, merchant, &key));
        assert_eq!(reserved.is_ok(), holder.unwrap().is_some(), "round {round}: {reserved:?}");
    }
}

#[tokio::test]
async fn a_purchase_in_doubt_holds_its_key_against_a_closing() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let order = env.order_under(KEY, &merchant, METER, 1_000).await;
    env.store.reserve(order.clone()).await.unwrap();
    env.records(&order, Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    assert_eq!(close(&env.store, merchant, KEY).await.unwrap().unwrap().state, StateName::InDoubt);
    assert_eq!(env.count("closed_keys"), 0);
}

#[tokio::test]
async fn a_closing_without_an_acknowledgement_is_an_error_and_counts_if_it_was_kept() {
    for cut in [Cut::Acknowledgement, Cut::Commit] {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with(50_000).await;
        let (wire, settings) = wired(&env.database);
        let store = connect(settings).await;
        wire.cut_at_next_commit(cut);
        let lost = close(&store, merchant, KEY).await.unwrap_err();
        assert!(lost.may_be_committed(), "{cut:?}: {lost:?}");
        let mut early = env.order_under(KEY, &merchant, METER, 1_000).await;
        early.pending = aged(A_WHILE);
        let kept = cut == Cut::Acknowledgement;
        assert_eq!(env.store.reserve(early).await.is_err(), kept, "{cut:?}");
    }
}

#[tokio::test]
async fn a_closing_clears_a_few_away_that_are_over_an_hour_old_and_no_other() {
    let env = TestEnv::open().await;
    let (merchant, neighbour) = (env.merchant_with(50_000).await, env.merchant_with(50_000).await);
    for number in 0..12 {
        close(&env.store, merchant, &format!("old-{number}")).await.unwrap();
    }
    close(&env.store, neighbour, KEY).await.unwrap();
    env.sql("UPDATE closed_keys SET closed_at = closed_at - interval '61 minutes'");
    close(&env.store, merchant, "new").await.unwrap();
    env.sql(
        "UPDATE closed_keys SET closed_at = closed_at - interval '59 minutes' WHERE idempotency_key = 'new'",
    );
    assert_eq!(env.count("closed_keys"), 4 + 1 + 1, "the eight oldest are deleted");
    assert_eq!(env.count("closed_keys WHERE idempotency_key IN ('old-8', 'old-9', 'old-10', 'old-11')"), 4);

    // A key that is closed again is not cleared away.
    close(&env.store, merchant, "old-8").await.unwrap();
    let left =
        "SELECT string_agg(idempotency_key, ' ' ORDER BY closed_at) FROM closed_keys WHERE client_id = ";
    assert_eq!(env.sql(&format!("{left}{}", merchant.authority.client.0)), "new old-8");
    assert_eq!(env.sql(&format!("{left}{}", neighbour.authority.client.0)), KEY);
}

#[tokio::test]
async fn a_closing_within_the_hour_cannot_be_deleted() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    close(&env.store, merchant, KEY).await.unwrap();
    assert!(env.refusal_in("vendgate_api", "DELETE FROM closed_keys").contains("within the hour"));
    for forbidden in ["TRUNCATE closed_keys", "UPDATE closed_keys SET idempotency_key = 'another'"] {
        assert!(env.refusal_in("vendgate_api", forbidden).contains("permission denied"), "{forbidden}");
    }
    let malformed = "INSERT INTO closed_keys SELECT id, 'two words', now() FROM oauth_clients";
    assert!(env.refusal_of(malformed).contains("closed_keys_idempotency_key_check"));
}
