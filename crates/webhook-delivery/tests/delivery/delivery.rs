//! What arrives at an endpoint, in which order, and what happens when it does not accept it.

use std::collections::HashMap;
use std::sync::Mutex;

use feed::Position;
use test_kit::waiting::until;
use webhook::{EndpointChange, EndpointStatus, Message, SwitchedOff, TOLERANCE, verify};
use webhook_delivery::DeliverySettings;
use webhook_store::Asked;

use crate::env::{DeliveryEnv, keys, settings};
use crate::receiver::{Manner, Receiver};

fn one_by_one() -> DeliverySettings {
    DeliverySettings { at_once_per_endpoint: 1, ..settings() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_event_arrives_once_signed_and_in_the_order_of_the_feed() {
    let env = DeliveryEnv::open().await;
    let (owner, receiver) = (env.owner("SHOP").await, Receiver::good().await);
    env.tell(owner, 1, 3);
    let endpoint = env.endpoint(owner, &receiver.url).await;
    let worker = env.work_with(one_by_one());
    env.tell(owner, 4, 153);
    until("150 events arrive", || receiver.received().len() >= 150).await;
    assert_eq!(
        receiver.numbers(),
        (4..=153).collect::<Vec<_>>(),
        "events before the endpoint are not for it"
    );

    let (secret, public) = (keys().secret().parse().unwrap(), keys().public_key().parse().unwrap());
    for received in receiver.received() {
        let message = Message { id: &received.id, timestamp: received.timestamp, body: &received.body };
        for key in [&secret, &public] {
            verify(&message, &received.signature, received.timestamp, TOLERANCE, key).unwrap();
        }
        assert_eq!(received.json()["id"], received.id);
        assert!(Position::of_id(&received.id).is_some(), "{}", received.id);
    }
    worker.stop().await;
    let counted = format!(
        "SELECT count(*), max(attempt), count(next_at) FROM webhook_attempts WHERE endpoint_id = {}",
        endpoint.id.0
    );
    assert_eq!(env.sql(&counted), "150|1|0");
    assert_eq!(env.sql("SELECT count(*) FROM webhook_retries"), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_is_not_accepted_is_set_aside_and_does_not_hold_up_the_others() {
    let env = DeliveryEnv::open().await;
    let owner = env.owner("SHOP").await;
    let counts = Mutex::new(HashMap::new());
    let receiver = Receiver::start(move |received| {
        let mut counts = counts.lock().unwrap();
        let count = counts.entry(received.number()).and_modify(|count| *count += 1).or_insert(1);
        Manner::Status(if received.number() == 5 && *count < 3 { 500 } else { 200 })
    })
    .await;
    let endpoint = env.endpoint(owner, &receiver.url).await;
    let worker = env.work();
    env.tell(owner, 1, 20);
    until("all events were tried", || receiver.received().len() >= 20).await;
    for attempts in [2, 3] {
        let waits = format!("SELECT count(*) FROM webhook_retries WHERE attempts = {}", attempts - 1);
        until("the refused one waits", || env.sql(&waits) == "1").await;
        env.makes_due(endpoint.id);
        let tried = || receiver.numbers().iter().filter(|number| **number == 5).count();
        until("it is tried again", || tried() >= attempts).await;
    }
    until("nothing is left", || env.sql("SELECT count(*) FROM webhook_retries") == "0").await;
    worker.stop().await;

    let log =
        env.webhooks().attempts(owner.authority.organisation, endpoint.id, None, 100).await.unwrap().unwrap();
    assert_eq!(log.len(), 22);
    let of_five: Vec<_> = log.iter().filter(|one| one.answer == Ok(500) || one.attempt > 1).collect();
    let told: Vec<_> =
        of_five.iter().rev().map(|one| (one.attempt, one.answer.clone(), one.next_at.is_some())).collect();
    assert_eq!(told, [(1, Ok(500), true), (2, Ok(500), true), (3, Ok(200), false)]);
    let mut ids: Vec<String> =
        receiver.received().into_iter().filter(|one| one.number() == 5).map(|one| one.id).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "the id of an event is the same at every attempt: {ids:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_gets_the_types_that_it_chose_and_nothing_while_it_is_paused() {
    let env = DeliveryEnv::open().await;
    let (owner, receiver) = (env.owner("SHOP").await, Receiver::good().await);
    let endpoint = env.endpoint_for(owner, &receiver.url, &["wallet.topped_up"]).await;
    let worker = env.work();
    env.tell_of(owner, "wallet.low", 1, 5);
    env.tell_of(owner, "wallet.topped_up", 6, 6);
    until("the chosen one arrives", || !receiver.received().is_empty()).await;

    let pause = |is_active| EndpointChange { is_active: Some(is_active), ..EndpointChange::default() };
    let (organisation, user) = (owner.authority.organisation, owner.authority.user);
    env.webhooks().change(organisation, user, endpoint.id, pause(false)).await.unwrap().unwrap();
    let other = Receiver::good().await;
    env.endpoint(owner, &other.url).await;
    env.tell_of(owner, "wallet.topped_up", 7, 9);
    until("another endpoint has them", || other.received().len() >= 3).await;
    assert_eq!(receiver.numbers(), [6]);
    env.webhooks().change(organisation, user, endpoint.id, pause(true)).await.unwrap().unwrap();
    until("they follow", || receiver.received().len() >= 4).await;
    worker.stop().await;
    let mut numbers = receiver.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, [6, 7, 8, 9]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_accepts_nothing_for_days_or_is_gone_is_switched_off_and_the_feed_tells() {
    let env = DeliveryEnv::open().await;
    let owner = env.owner("SHOP").await;
    let (failing, gone) =
        (Receiver::start(|_| Manner::Status(500)).await, Receiver::start(|_| Manner::Status(410)).await);
    let told = Receiver::good().await;
    let [failing, gone] = [env.endpoint(owner, &failing.url).await, env.endpoint(owner, &gone.url).await];
    env.endpoint_for(owner, &told.url, &["webhook_endpoint.switched_off"]).await;
    env.sql(&format!(
        "UPDATE webhook_progress SET failing_since = now() - interval '6 days' WHERE endpoint_id = {}",
        failing.id.0
    ));
    let worker = env.work();
    env.tell(owner, 1, 1);
    until("both are switched off", || told.received().len() >= 2).await;
    worker.stop().await;
    for (endpoint, because) in [(failing, SwitchedOff::Failing), (gone, SwitchedOff::Gone)] {
        let found = env.webhooks().find(owner.authority.organisation, endpoint.id).await.unwrap().unwrap();
        assert_eq!(found.status, EndpointStatus::SwitchedOff(because));
        let is_told = told.received().iter().any(|one| {
            let told = &one.json()["data"]["webhook_endpoint"];
            told["id"] == endpoint.id.0 && told["switched_off_because"] == because.as_str()
        });
        assert!(is_told, "{because:?}");
    }
    assert_eq!(env.sql("SELECT count(*) FROM audit_log WHERE action = 'webhook_endpoint.switched_off'"), "2");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_sent_again_by_id_and_by_range_and_a_test_reaches_an_active_endpoint() {
    let env = DeliveryEnv::open().await;
    let (owner, receiver) = (
        env.owner("SHOP").await,
        Receiver::start(|received| {
            Manner::Status(if received.json()["type"] == "webhook.test" { 500 } else { 200 })
        })
        .await,
    );
    let (organisation, endpoint) =
        (owner.authority.organisation, env.endpoint(owner, &receiver.url).await.id);
    let worker = env.work_with(one_by_one());
    env.tell(owner, 1, 10);
    until("all arrive", || receiver.received().len() >= 10).await;
    let recorded = "SELECT count(*) FROM webhook_attempts";
    until("that is recorded", || env.sql(recorded) == "10").await;
    let at = |number: usize| Position::of_id(&receiver.received()[number - 1].id).unwrap();
    let (third, sixth) = (at(3), at(6));

    let webhooks = env.webhooks();
    let Asked::Granted(again) = webhooks.ask_again(organisation, endpoint, third, third).await.unwrap()
    else {
        panic!()
    };
    assert_eq!((again.events, again.goes_on_after), (1, None));
    until("one arrives again", || receiver.received().len() >= 11).await;
    let Asked::Granted(again) = webhooks.ask_again(organisation, endpoint, third, sixth).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(again.events, 4);
    until("four arrive again", || receiver.received().len() >= 15).await;
    let mut repeated = receiver.numbers().split_off(10);
    repeated.sort_unstable();
    assert_eq!(repeated, [3, 3, 4, 5, 6]);

    let Asked::Granted(test) = webhooks.ask_for_test(organisation, endpoint).await.unwrap() else { panic!() };
    until("the test arrives", || receiver.received().len() >= 16).await;
    let newest = receiver.received().pop().unwrap();
    assert_eq!((newest.json()["type"].as_str(), newest.id.clone()), (Some("webhook.test"), test.to_string()));
    until("a test is not tried again", || {
        env.sql(recorded) == "16" && env.sql("SELECT count(*) FROM webhook_retries") == "0"
    })
    .await;

    let pause = EndpointChange { is_active: Some(false), ..EndpointChange::default() };
    webhooks.change(organisation, owner.authority.user, endpoint, pause).await.unwrap();
    assert_eq!(webhooks.ask_for_test(organisation, endpoint).await.unwrap(), Asked::NotActive);
    assert_eq!(webhooks.ask_again(organisation, endpoint, third, sixth).await.unwrap(), Asked::NotActive);
    let other = env.owner("OTHER").await.authority.organisation;
    assert_eq!(webhooks.ask_for_test(other, endpoint).await.unwrap(), Asked::Absent);
    assert_eq!(webhooks.ask_again(other, endpoint, third, sixth).await.unwrap(), Asked::Absent);
    assert_eq!(webhooks.attempts(other, endpoint, None, 10).await.unwrap(), None);
    worker.stop().await;
}
