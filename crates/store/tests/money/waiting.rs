//! How much waits: counted from what is open alone, and said for every state.

use std::time::Duration;

use purchase::{Fact, StateName};
use store::{OpenWork, StoreError};
use vend::{Doubt, Refusal, RefusalReason};

use crate::town::{FIRST, Town, vended};

async fn waiting(town: &Town) -> OpenWork {
    town.store.count_open().await.unwrap()
}

#[tokio::test]
async fn an_empty_town_waits_for_nothing() {
    let town = Town::open().await;
    assert_eq!(waiting(&town).await, OpenWork::default());
}

#[tokio::test]
async fn what_is_open_is_counted_by_state_with_the_age_of_the_oldest() {
    let town = Town::open().await;
    let shop = town.shop_with(100_000).await;
    let (in_flight, _) = town.reserved(&shop, "04257670465", 10_000).await;
    let (lost, _) = town.reserved(&shop, "04257670473", 10_000).await;
    let (ended, _) = town.reserved(&shop, "04257670481", 10_000).await;
    town.records(&lost, Fact::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    town.records(&ended, vended("V1", 10_000)).await;
    town.sql(&format!(
        "UPDATE purchases SET created_at = created_at - interval '1 hour', due_at = now() - interval '2 minutes'
         WHERE id = {}",
        lost.id.0
    ));

    let open = waiting(&town).await;
    let ages: Vec<(StateName, u32, u64)> = StateName::ALL
        .map(|state| (state, open.in_state(state)))
        .map(|(state, pile)| (state, pile.waiting, pile.oldest.as_secs() / 60))
        .into();
    let expected = [
        (StateName::InFlight, 1, 0),
        (StateName::InDoubt, 1, 60),
        (StateName::RetryDue, 0, 0),
        (StateName::Review, 0, 0),
        (StateName::Successful, 0, 0),
        (StateName::Failed, 0, 0),
    ];
    assert_eq!(ages, expected);
    assert!((119..150).contains(&open.overdue.as_secs()), "{:?}", open.overdue);
    town.records(&in_flight, vended("V2", 10_000)).await;
    town.records(&lost, vended("V3", 10_000)).await;
    assert_eq!(waiting(&town).await.overdue, Duration::ZERO);
}

#[tokio::test]
async fn an_incident_waits_until_a_person_has_dealt_with_it() {
    let town = Town::open().await;
    let shop = town.shop_with(100_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    let refusal = Refusal::because(RefusalReason::Blocked);
    let refused = Fact::Refused { fence: FIRST, refusal, told: purchase::Told::InAnswer };
    town.records(&order, refused).await;
    town.records(&order, vended("LATE", 10_000)).await;
    assert_eq!(waiting(&town).await.incidents.waiting, 1);

    town.sql("INSERT INTO incident_decisions (incident_id, actor, reason) SELECT id, 'naledi', 'paid' FROM incidents");
    assert_eq!(waiting(&town).await.incidents.waiting, 0);
}

#[tokio::test]
async fn a_store_is_healthy_until_somebody_migrates_the_database_beneath_it() {
    let town = Town::open().await;
    town.store.check_health().await.unwrap();
    town.sql("INSERT INTO __diesel_schema_migrations (version) VALUES ('29991231000000')");
    let sick = town.store.check_health().await.unwrap_err();
    assert!(matches!(&sick, StoreError::Schema { found, .. } if found == "29991231000000"), "{sick}");
}
