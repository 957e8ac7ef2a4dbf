//! The worker with its own rights and none of the servers': it does all of its work, and none of theirs.

use std::time::Duration;

use purchase::{Channel, Fact};
use store::{Delivery, DeliveryOutcome, DueSlots, ReserveError, Rounds, Store};

use crate::installation::town;
use crate::town::{FIRST, PROVIDER, Town, connect, settings, vended};

async fn worker(town: &Town) -> Store {
    let mut as_worker = settings(&town.database);
    as_worker.database_url = town.database.url_as("test_worker", "test_worker").into();
    connect(as_worker).await
}

#[tokio::test]
async fn the_worker_does_all_of_its_work_with_its_own_rights() {
    let town = town().await;
    let (worker, shop) = (worker(&town).await, town.shop_with(50_000).await);
    worker.refuse_powerful_role().await.unwrap();
    let (order, _) = town.reserved(&shop, "04000000001", 1_000).await;
    let (failed, _) = town.reserved(&shop, "04000000002", 1_000).await;
    town.records(&failed, Fact::NeverSent { fence: FIRST }).await;
    town.sql("UPDATE purchases SET lease_until = now(), due_at = now() WHERE ended_at IS NULL");

    let slots = vec![DueSlots { provider_code: PROVIDER.into(), slots: 4 }];
    let claimed = worker.claim_due(slots).await.unwrap();
    assert_eq!(claimed.iter().map(|claimed| claimed.record.id).collect::<Vec<_>>(), [order.id]);
    worker.take_call_ids(PROVIDER, 3).await.unwrap();
    let organisation = shop.authority.organisation;
    worker.record(order.id, organisation, vended("V1", 1_000)).await.unwrap();
    worker.record(failed.id, organisation, vended("LATE", 1_000)).await.unwrap();
    assert_eq!((town.state(order.id).as_str(), town.count("incidents")), ("SUCCESSFUL", 1));

    let messages =
        worker.claim_messages(Channel::Sms, Duration::ZERO, 10, Duration::from_secs(9)).await.unwrap();
    let [message] = &messages[..] else { panic!("{messages:?}") };
    assert!(message.contents.is_some());
    let sent = Delivery { id: message.id, attempt: message.attempt, outcome: DeliveryOutcome::Sent };
    worker.record_deliveries(vec![sent]).await.unwrap();

    worker.count_open().await.unwrap();
    town.sql(
        "SET session_replication_role = replica;
         UPDATE access_tokens SET created_at = now() - interval '9 days', expires_at = now() - interval '8 days';
         UPDATE token_families SET created_at = now() - interval '9 days', expires_at = now() - interval '8 days'",
    );
    let purged = worker.purge_expired().await.unwrap();
    assert_eq!((purged.access_tokens, purged.token_families), (1, 1));
    assert_eq!(worker.check_books(&mut Rounds::default()).await.unwrap(), []);
}

#[tokio::test]
async fn the_worker_reserves_nothing() {
    let town = town().await;
    let (worker, shop) = (worker(&town).await, town.shop_with(50_000).await);
    let order = town.order(&shop, "04000000001", 1_000).await;
    let refused = worker.reserve(order).await;
    assert!(matches!(refused, Err(ReserveError::Failed(_))), "{refused:?}");
    assert_eq!(town.balances(shop.wallet), "50000|0");
}
