//! The worker with its own rights and none of the servers': it can do all of its work, and none of theirs.

use std::{collections::BTreeMap, time::Duration};

use back_office::CheckProgress;
use clock::{Clock, SystemClock};
use purchase::{Channel, Event};
use store::{Delivery, DeliveryOutcome, DueSlots, ReserveError, Store, WantedSlots, WorkerId};
use test_kit::{
    database::{SERVER, WORKER},
    purchases::pula,
};

use crate::{
    env::{FIRST, PROVIDER, TestEnv, vended},
    installation::{Login, env},
};

async fn worker(env: &TestEnv) -> Store {
    env.store_as(WORKER).await
}

#[tokio::test]
async fn the_worker_does_all_of_its_work_with_its_own_rights() {
    let env = env().await;
    let (worker, merchant) = (worker(&env).await, env.merchant_with(50_000).await);
    worker.database().refuse_powerful_role().await.unwrap();
    let (order, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    let (failed, _) = env.reserved(&merchant, "04000000002", 1_000).await;
    env.records(&failed, Event::NeverSent { fence: FIRST }).await;
    env.sql("UPDATE purchases SET lease_until = now(), due_at = now() WHERE ended_at IS NULL");

    let wanted = WantedSlots { provider_code: PROVIDER.into(), most: 4, in_hand: 0 };
    let shares = worker.renew_slot_shares(WorkerId(7), vec![wanted]).await.unwrap();
    assert_eq!(shares, BTreeMap::from([(PROVIDER.to_owned(), 4)]));
    worker.give_up_slot_shares(WorkerId(7)).await.unwrap();
    let slots =
        vec![DueSlots { provider_code: PROVIDER.into(), slots: 4, since: None, in_hand: BTreeMap::new() }];
    let claimed = worker.claim_due(slots).await.unwrap();
    assert_eq!(claimed.iter().map(|claimed| claimed.record.id).collect::<Vec<_>>(), [order.id]);
    worker.take_call_ids(PROVIDER, 3).await.unwrap();
    let organisation = merchant.authority.organisation;
    worker.record(order.id, organisation, vended("V1", 1_000)).await.unwrap();
    worker.record(failed.id, organisation, vended("LATE", 1_000)).await.unwrap();
    assert_eq!((env.state(order.id).as_str(), env.count("incidents")), ("SUCCESSFUL", 1));

    let messages =
        worker.claim_messages(Channel::Sms, Duration::ZERO, 10, Duration::from_secs(9)).await.unwrap();
    let [message] = &messages[..] else { panic!("{messages:?}") };
    assert!(message.contents.is_some());
    let sent = Delivery { id: message.id, attempt: message.attempt, outcome: DeliveryOutcome::Sent };
    worker.record_deliveries(vec![sent]).await.unwrap();

    back_office::count_open(worker.database()).await.unwrap();
    let health = back_office::read_database_health(worker.database(), || SystemClock.now()).await.unwrap();
    assert!(health.megabytes > 0 && health.clocks_apart < Duration::from_secs(1), "{health:?}");
    catalogue::record_float(worker.database(), PROVIDER.into(), pula(12_345), || Duration::ZERO)
        .await
        .unwrap();
    assert_eq!(env.sql("SELECT amount FROM provider_floats"), "12345");
    env.sql(
        "SET session_replication_role = replica;
         UPDATE access_tokens SET created_at = now() - interval '9 days', expires_at = now() - interval '8 days';
         UPDATE token_families SET created_at = now() - interval '9 days', expires_at = now() - interval '8 days'",
    );
    let purged = back_office::purge_expired(worker.database()).await.unwrap();
    assert_eq!((purged.access_tokens, purged.token_families), (1, 1));
    assert_eq!(back_office::check_books(&worker, &mut CheckProgress::default()).await.unwrap(), []);
}

#[tokio::test]
async fn a_server_stores_what_a_provider_mentions_and_sets_no_limit() {
    let env = env().await;
    let server = env.store_as(SERVER).await;
    for minor in [12_345, -100] {
        catalogue::record_float(server.database(), PROVIDER.into(), pula(minor), || Duration::ZERO)
            .await
            .unwrap();
        assert_eq!(env.sql("SELECT amount FROM provider_floats"), minor.to_string());
    }
    let login = Login::of(&env.database, SERVER).await;
    for forbidden in ["UPDATE provider_floats SET low_below = 1", "DELETE FROM provider_floats"] {
        assert!(login.runs(forbidden).await.is_err(), "{forbidden}");
    }
}

#[tokio::test]
async fn the_worker_reserves_nothing_but_lines_of_batches() {
    let env = env().await;
    let (worker, merchant) = (worker(&env).await, env.merchant_with(50_000).await);
    let order = env.order(&merchant, "04000000001", 1_000).await;
    let refused = worker.reserve(order).await;
    assert!(matches!(refused, Err(ReserveError::Failed(_))), "{refused:?}");
    assert_eq!(env.balances(merchant.wallet), "50000|0");
}
