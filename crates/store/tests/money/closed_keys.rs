//! A refusal under an idempotency key closes the key for every confirm that had begun by then, and leaves it open for those
//! that begin later.

use std::time::Duration;

use local_postgres::Cut;
use purchase::{Fact, IdempotencyKey, StateName};
use store::{KeyHolder, ReserveRefusal, Store, StoreError};
use vend::Doubt;

use crate::proxy::wired;
use crate::references::waiting;
use crate::town::{FIRST, Shop, Town, aged, connect, is_pending, lock_of, refusal, settings};

const KEY: &str = "till-3/0001";
const METER: &str = "04257670465";
const A_WHILE: Duration = Duration::from_secs(15);

/// Closes a shop's key, unless a purchase holds it.
async fn close(store: &Store, shop: Shop, key: &str) -> Result<Option<KeyHolder>, StoreError> {
    let (of, key) = (shop.authority, IdempotencyKey::parse(key).unwrap());
    store.close_key(of.organisation, of.client, key).await
}

#[tokio::test]
async fn a_confirm_that_had_begun_before_the_key_was_closed_is_refused_and_no_other_is() {
    let town = Town::open().await;
    let (shop, neighbour) = (town.shop_with(50_000).await, town.shop_with(50_000).await);
    assert_eq!(close(&town.store, shop, KEY).await.unwrap(), None);
    let mut early = town.order_under(KEY, &shop, METER, 1_000).await;
    early.pending = aged(A_WHILE);
    assert_eq!(refusal(town.store.reserve(early.clone()).await), ReserveRefusal::KeyClosed);
    assert_eq!((town.count("purchases"), town.balances(shop.wallet)), (0, "50000|0".to_owned()));

    let of_another_key = town.order_under("till-3/0002", &shop, "04000000001", 1_000).await;
    let without_a_key = town.order(&shop, "04000000002", 1_000).await;
    let of_a_neighbour = town.order_under(KEY, &neighbour, "04000000003", 1_000).await;
    for mut order in [of_another_key, without_a_key, of_a_neighbour] {
        order.pending = aged(A_WHILE);
        town.store.reserve(order).await.unwrap();
    }
    early.pending = aged(Duration::ZERO);
    town.store.reserve(early.clone()).await.unwrap();
    // It has the key now, and is found; and it finds itself, though its key was closed after it began.
    assert_eq!(close(&town.store, shop, KEY).await.unwrap().unwrap().purchase, early.id);
    early.pending = aged(A_WHILE);
    assert_eq!(town.store.reserve(early).await.unwrap().life.state.name(), StateName::InFlight);
}

#[tokio::test]
async fn what_would_refuse_the_confirm_anyway_is_told_in_its_own_words() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    assert_eq!(close(&town.store, shop, KEY).await.unwrap(), None);
    let mut early = town.order_under(KEY, &shop, METER, 1_000).await;
    early.pending = aged(A_WHILE);
    town.reserved(&shop, METER, 1_000).await;
    assert!(is_pending(refusal(town.store.reserve(early.clone()).await)));
    town.sql("UPDATE accounts SET status = 'SUSPENDED' WHERE house IS NULL");
    assert_eq!(refusal(town.store.reserve(early).await), ReserveRefusal::NotDebitable);
}

#[tokio::test]
async fn a_confirm_that_waits_behind_the_closing_grows_older_while_it_waits_and_is_refused() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let mut order = town.order_under(KEY, &shop, METER, 1_000).await;
    order.pending = aged(Duration::ZERO);
    let holder = town.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(shop.wallet))).await.unwrap();
    let store = town.store.clone();
    let closing = tokio::spawn(async move { close(&store, shop, KEY).await });
    waiting(&town, 1).await;
    let store = town.store.clone();
    let confirm = tokio::spawn(async move { store.reserve(order).await });
    waiting(&town, 2).await;
    holder.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(closing.await.unwrap().unwrap(), None);
    assert_eq!(refusal(confirm.await.unwrap()), ReserveRefusal::KeyClosed);
    assert_eq!(town.count("purchases"), 0);
}

#[tokio::test]
async fn a_closing_that_waits_behind_the_confirm_finds_its_purchase_and_closes_nothing() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let order = town.order_under(KEY, &shop, METER, 1_000).await;
    let (purchase, request) = (order.id, order.keyed.as_ref().unwrap().hash);
    let holder = town.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(shop.wallet))).await.unwrap();
    let store = town.store.clone();
    let confirm = tokio::spawn(async move { store.reserve(order).await });
    waiting(&town, 1).await;
    let elsewhere = connect(settings(&town.database)).await;
    let closing = tokio::spawn(async move { close(&elsewhere, shop, KEY).await });
    waiting(&town, 2).await;
    holder.batch_execute("ROLLBACK").await.unwrap();

    confirm.await.unwrap().unwrap();
    let found = KeyHolder { purchase, request, state: StateName::InFlight };
    assert_eq!(closing.await.unwrap().unwrap(), Some(found));
    assert_eq!(town.count("closed_keys"), 0);
}

#[tokio::test]
async fn of_a_confirm_and_a_closing_at_once_one_sees_the_other() {
    let town = Town::open().await;
    let elsewhere = connect(settings(&town.database)).await;
    let shop = town.shop_with(1_000_000).await;
    for round in 0..40 {
        let key = format!("key-{round}");
        let mut order = town.order_under(&key, &shop, &format!("0400000{round:04}"), 1_000).await;
        order.pending = aged(A_WHILE);
        let (reserved, holder) = tokio::join!(town.store.reserve(order), close(&elsewhere, shop, &key));
        assert_eq!(reserved.is_ok(), holder.unwrap().is_some(), "round {round}: {reserved:?}");
    }
}

#[tokio::test]
async fn a_purchase_in_doubt_holds_its_key_against_a_closing() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let order = town.order_under(KEY, &shop, METER, 1_000).await;
    town.store.reserve(order.clone()).await.unwrap();
    town.records(&order, Fact::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    assert_eq!(close(&town.store, shop, KEY).await.unwrap().unwrap().state, StateName::InDoubt);
    assert_eq!(town.count("closed_keys"), 0);
}

#[tokio::test]
async fn a_closing_without_an_acknowledgement_is_an_error_and_counts_if_it_was_kept() {
    for cut in [Cut::Acknowledgement, Cut::Commit] {
        let town = Town::open().await;
        let shop = town.shop_with(50_000).await;
        let (wire, settings) = wired(&town.database);
        let store = connect(settings).await;
        wire.cut_at_next_commit(cut);
        let lost = close(&store, shop, KEY).await.unwrap_err();
        assert!(lost.may_have_been_kept(), "{cut:?}: {lost:?}");
        let mut early = town.order_under(KEY, &shop, METER, 1_000).await;
        early.pending = aged(A_WHILE);
        let kept = cut == Cut::Acknowledgement;
        assert_eq!(town.store.reserve(early).await.is_err(), kept, "{cut:?}");
    }
}

#[tokio::test]
async fn a_closing_clears_a_few_away_that_are_over_an_hour_old_and_no_other() {
    let town = Town::open().await;
    let (shop, neighbour) = (town.shop_with(50_000).await, town.shop_with(50_000).await);
    for number in 0..12 {
        close(&town.store, shop, &format!("old-{number}")).await.unwrap();
    }
    close(&town.store, neighbour, KEY).await.unwrap();
    town.sql("UPDATE closed_keys SET closed_at = closed_at - interval '61 minutes'");
    close(&town.store, shop, "new").await.unwrap();
    town.sql(
        "UPDATE closed_keys SET closed_at = closed_at - interval '59 minutes' WHERE idempotency_key = 'new'",
    );
    assert_eq!(town.count("closed_keys"), 4 + 1 + 1, "eight of the oldest are gone");
    assert_eq!(town.count("closed_keys WHERE idempotency_key IN ('old-8', 'old-9', 'old-10', 'old-11')"), 4);

    // One that is closed again is not among those that are cleared away.
    close(&town.store, shop, "old-8").await.unwrap();
    let left =
        "SELECT string_agg(idempotency_key, ' ' ORDER BY closed_at) FROM closed_keys WHERE client_id = ";
    assert_eq!(town.sql(&format!("{left}{}", shop.authority.client.0)), "new old-8");
    assert_eq!(town.sql(&format!("{left}{}", neighbour.authority.client.0)), KEY);
}

#[tokio::test]
async fn nobody_takes_away_a_closing_that_counts() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    close(&town.store, shop, KEY).await.unwrap();
    assert!(town.refusal_in("vendgate_api", "DELETE FROM closed_keys").contains("within the hour"));
    for forbidden in ["TRUNCATE closed_keys", "UPDATE closed_keys SET idempotency_key = 'another'"] {
        assert!(town.refusal_in("vendgate_api", forbidden).contains("permission denied"), "{forbidden}");
    }
    let malformed = "INSERT INTO closed_keys SELECT id, 'two words', now() FROM oauth_clients";
    assert!(town.refusal_of(malformed).contains("closed_keys_idempotency_key_check"));
}
