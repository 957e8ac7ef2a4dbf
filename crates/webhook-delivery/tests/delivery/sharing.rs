//! Several workers deliver together, and a worker that dies is replaced.

use std::collections::BTreeMap;
use std::time::Duration;

use test_kit::waiting::until;
use webhook_store::{Lane, Round};

use crate::env::DeliveryEnv;
use crate::receiver::Receiver;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_workers_share_the_endpoints_and_send_each_event_once() {
    let env = DeliveryEnv::open().await;
    let (owner, receiver) = (env.owner("SHOP").await, Receiver::good().await);
    let urls: Vec<String> = (0..5).map(|number| format!("{}/{number}", receiver.url)).collect();
    for url in &urls {
        env.endpoint(owner, url).await;
    }
    let workers = [env.work(), env.work(), env.work()];
    env.tell(owner, 1, 40);
    until("all events arrive at all endpoints", || receiver.received().len() >= 200).await;
    for worker in workers {
        worker.stop().await;
    }
    let mut times = BTreeMap::new();
    for number in receiver.numbers() {
        *times.entry(number).or_insert(0) += 1;
    }
    assert_eq!(times, (1..=40).map(|number| (number, urls.len())).collect());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_of_a_worker_that_died_is_taken_over_when_its_lease_ends() {
    let env = DeliveryEnv::open().await;
    let (owner, receiver) = (env.owner("SHOP").await, Receiver::good().await);
    let endpoint = env.endpoint(owner, &receiver.url).await;
    env.tell(owner, 1, 3);
    let dead = env.webhooks_of_worker();
    until("the events are below the horizon", || env.sql("SELECT pg_snapshot_xmin(pg_current_snapshot()) > max(transaction_no - base)::text::xid8 FROM feed_events, feed_numbering") == "t").await;
    let taken = dead.take(Lane::Slow, 10, Duration::from_secs(1)).await.unwrap();
    assert_eq!(taken.len(), 1);
    assert!(dead.take(Lane::Slow, 10, Duration::from_secs(1)).await.unwrap().is_empty(), "it is taken");
    let worker = env.work();
    until("another worker sends them", || receiver.received().len() >= 3).await;
    worker.stop().await;

    let late = Round {
        endpoint: endpoint.id,
        fence: taken[0].fence,
        position: taken[0].position,
        attempts: Vec::new(),
        failing_since: None,
        failed_rounds: 0,
        lane: Lane::Quick,
        rest: Duration::ZERO,
        switched_off: None,
    };
    let position = "SELECT transaction_no, event_id FROM webhook_progress";
    let reached = env.sql(position);
    assert!(!dead.record(late).await.unwrap(), "a worker that was replaced records nothing");
    assert_eq!(env.sql(position), reached);
}
