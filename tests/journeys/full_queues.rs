//! More requests than a queue has places. Each excess request is answered in time, and only if it has done nothing.

use std::{collections::BTreeMap, time::Duration};

use clock::{Clock, SystemClock};
use futures_util::future::join_all;
use reqwest::Method;
use sandbox::Process;
use tokio::sync::Mutex;

use crate::{
    env::{env, eventually},
    merchant::Merchant,
    request_body::RequestBody,
    simulator::SimulatorClient,
    wire::Answer,
};

const CROWD: usize = 300;

/// A crowd keeps both processors busy, and one of these tests measures how long its answers take.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

/// A server of one test. A crowd fills the queues of a server, and then others are refused too.
fn server(name: &str) -> Process {
    env().another_api_server(&format!("server-of-{name}"))
}

/// Sends `CROWD` copies of one confirm at once under one key. Returns the answers by status.
async fn crowd(merchant: &Merchant, order: &RequestBody) -> BTreeMap<u16, Vec<Answer>> {
    let body = order.body();
    let copies = (0..CROWD).map(async |_| {
        let headers = [("Idempotency-Key", "one-key")];
        merchant.send(Method::POST, "/public/v1/purchases/confirm", Some(&body), &headers).await
    });
    let mut told = BTreeMap::<u16, Vec<Answer>>::new();
    for answer in join_all(copies).await {
        told.entry(answer.status).or_default().push(answer);
    }
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_copies_of_a_confirm_under_one_key_one_buys_and_none_is_left_in_doubt() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let server = server("a-sale");
    let merchant = env().open_merchant().await.calling(server.url());
    let (simulator, meter) = (SimulatorClient::new(), env().meter());
    let told = crowd(&merchant, &merchant.order(&meter)).await;
    assert!(told.keys().all(|status| [200, 409, 429].contains(status)), "{:?}", told.keys());
    for answer in told.get(&429).into_iter().flatten() {
        assert_eq!(answer.refusal(), (429, "rate_limited", None));
        assert!(answer.header("retry-after").is_some());
    }
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&["BWP 101.50"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_copies_of_a_refused_confirm_under_one_key_none_is_left_in_doubt() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let server = server("a-refusal");
    let merchant = env().open_merchant().await.calling(server.url());
    let meter = env().scenario("not_found");
    let told = crowd(&merchant, &merchant.order(meter)).await;
    assert!(told.keys().all(|status| [404, 409, 429].contains(status)), "{:?}", told.keys());
    assert!(told.contains_key(&404), "{:?}", told.keys());
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_under_a_key_are_rate_limited_in_time_while_the_wallets_are_locked() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let server = server("locked-wallets");
    let merchant = env().open_merchant().await.calling(server.url());
    let meter = env().scenario("not_found");
    merchant.confirm(&merchant.order(meter)).await.expect(404);
    let organisation = merchant.organisation;
    let holding = tokio::task::spawn_blocking(move || {
        env().asks_the_database(&format!(
            "BEGIN; SELECT id FROM accounts WHERE organisation_id = {organisation} FOR UPDATE; \
             SELECT pg_sleep(4); COMMIT"
        ))
    });
    eventually("the wallets are locked", async || {
        env().asks_the_database("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1"
    })
    .await;
    let began = SystemClock.monotonic();
    let told = crowd(&merchant, &merchant.order(meter)).await;
    let took = SystemClock.monotonic().elapsed_since(began);
    assert!(told.keys().all(|status| [404, 429].contains(status)), "{:?}", told.keys());
    assert!(told[&429].len() > CROWD / 2, "{}", told[&429].len());
    for answer in &told[&429] {
        assert_eq!(answer.refusal(), (429, "rate_limited", None));
        assert!(answer.header("retry-after").is_some());
    }
    assert!(took < Duration::from_secs(10), "no request waits longer than its limit: {took:?}");
    holding.await.unwrap();
    assert_eq!(merchant.rows(), "0|0|0|0|0");
    let again = crowd(&merchant, &merchant.order(meter)).await;
    assert!(again.keys().all(|status| [404, 429].contains(status)) && again.contains_key(&404));
}
