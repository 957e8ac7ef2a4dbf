//! Hostile receivers harm no other endpoint: measured with real sockets.

use std::time::Duration;

use clock::{Clock, SystemClock};
use test_kit::waiting::until;

use crate::env::{DeliveryEnv, Owner};
use crate::receiver::{Manner, Receiver};

const EVENTS: usize = 200;

/// How long it takes until a good endpoint has its events.
async fn delivered(env: &DeliveryEnv, owner: Owner, receiver: &Receiver, first: i64) -> Duration {
    let had = receiver.received().len();
    let began = SystemClock.monotonic();
    env.tell(owner, first, first + i64::try_from(EVENTS).unwrap() - 1);
    until("the good endpoint has all events", || receiver.received().len() >= had + EVENTS).await;
    SystemClock.monotonic().elapsed_since(began)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_receivers_do_not_delay_the_events_of_others() {
    let env = DeliveryEnv::open().await;
    let (shop, good) = (env.owner("SHOP").await, Receiver::good().await);
    env.endpoint(shop, &good.url).await;
    let worker = env.work();
    let alone = delivered(&env, shop, &good, 1).await;

    let manners = [
        Manner::Silent,
        Manner::Reset,
        Manner::Redirect,
        Manner::Endless,
        Manner::Status(500),
        Manner::After(Duration::from_millis(900)),
    ];
    let mut hostile = Vec::new();
    for (number, manner) in manners.into_iter().enumerate() {
        let owner = env.owner(&format!("HOSTILE{number}")).await;
        let receiver = Receiver::start(move |_| manner).await;
        // As many endpoints as there are places, over all hostile organisations.
        for _ in 0..6 {
            env.endpoint(owner, &receiver.url).await;
        }
        env.tell(owner, 1, 50);
        hostile.push((owner, receiver));
    }
    until("every hostile receiver was called", || hostile.iter().all(|(_, one)| !one.received().is_empty()))
        .await;
    let beside = delivered(&env, shop, &good, 1_000).await;
    for (owner, _) in &hostile {
        env.tell(*owner, 51, 60);
    }
    let again = delivered(&env, shop, &good, 2_000).await;
    println!("{EVENTS} events: {alone:?} alone, {beside:?} and {again:?} beside 36 hostile endpoints");
    for time in [beside, again] {
        assert!(
            time < alone * 3 + Duration::from_secs(1),
            "{time:?} beside hostile endpoints, {alone:?} alone"
        );
    }
    let mut numbers = good.numbers();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 3 * EVENTS);
    worker.stop().await;
    let slow = env.sql("SELECT count(*) FROM webhook_progress WHERE is_slow");
    assert!(
        slow.parse::<u32>().unwrap() >= 24,
        "{slow} of the hostile endpoints are in the lane of slow ones"
    );
}
