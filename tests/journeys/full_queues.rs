//! More requests than a queue has places for: each is told so, in time, and only where it has done nothing.

use std::{collections::BTreeMap, time::Duration};

use clock::{Clock, SystemClock};
use futures_util::future::join_all;
use reqwest::Method;

use crate::{
    order::Order,
    shop::Shop,
    street::Street,
    town::{eventually, town},
    wire::Answer,
};

const CROWD: usize = 300;

/// So many copies of one confirm at once, under one key: how often each status was answered.
async fn crowd(shop: &Shop, order: &Order) -> BTreeMap<u16, Vec<Answer>> {
    let body = order.body();
    let copies = (0..CROWD).map(async |_| {
        let headers = [("Idempotency-Key", "one-key")];
        shop.send(Method::POST, "/public/v1/purchases/confirm", Some(&body), &headers).await
    });
    let mut told = BTreeMap::<u16, Vec<Answer>>::new();
    for answer in join_all(copies).await {
        told.entry(answer.status).or_default().push(answer);
    }
    told
}

#[tokio::test]
async fn of_many_copies_of_a_confirm_under_one_key_one_buys_and_none_is_left_in_doubt() {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    let told = crowd(&shop, &shop.order(&meter)).await;
    assert!(told.keys().all(|status| [200, 409, 429].contains(status)), "{:?}", told.keys());
    for answer in told.get(&429).into_iter().flatten() {
        assert_eq!(answer.refusal(), (429, "rate_limited", None));
        assert!(answer.header("retry-after").is_some());
    }
    assert_eq!(street.vended(&meter).await, 1);
    shop.has_spent(&["BWP 101.50"]).await;
}

#[tokio::test]
async fn of_many_copies_of_a_refused_confirm_under_one_key_none_is_left_in_doubt() {
    let (shop, meter) = (town().open_shop().await, town().scenario("not_found"));
    let told = crowd(&shop, &shop.order(meter)).await;
    assert!(told.keys().all(|status| [404, 409, 429].contains(status)), "{:?}", told.keys());
    assert!(told.contains_key(&404), "{:?}", told.keys());
    assert_eq!(shop.rows(), "0|0|0|0|0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_the_wallets_are_held_up_refusals_under_a_key_are_told_to_come_again_in_time() {
    let (shop, meter) = (town().open_shop().await, town().scenario("not_found"));
    shop.confirm(&shop.order(meter)).await.expect(404);
    let organisation = shop.organisation;
    let holding = tokio::task::spawn_blocking(move || {
        town().asks_the_database(&format!(
            "BEGIN; SELECT id FROM accounts WHERE organisation_id = {organisation} FOR UPDATE; \
             SELECT pg_sleep(4); COMMIT"
        ))
    });
    eventually("the wallets are locked", async || {
        town().asks_the_database("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1"
    })
    .await;
    let began = SystemClock.monotonic();
    let told = crowd(&shop, &shop.order(meter)).await;
    let took = SystemClock.monotonic().elapsed_since(began);
    assert!(told.keys().all(|status| [404, 429].contains(status)), "{:?}", told.keys());
    assert!(told[&429].len() > CROWD / 2, "{}", told[&429].len());
    for answer in &told[&429] {
        assert_eq!(answer.refusal(), (429, "rate_limited", None));
        assert!(answer.header("retry-after").is_some());
    }
    assert!(took < Duration::from_secs(10), "nobody waits in vain for longer than that: {took:?}");
    holding.await.unwrap();
    assert_eq!(shop.rows(), "0|0|0|0|0");
    let again = crowd(&shop, &shop.order(meter)).await;
    assert!(again.keys().all(|status| [404, 429].contains(status)) && again.contains_key(&404));
}
