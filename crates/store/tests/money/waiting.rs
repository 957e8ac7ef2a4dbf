//! The open work: counted from open purchases only, and reported for every state.

use std::time::Duration;

use back_office::OpenWork;
use database::DatabaseError;
use purchase::{Event, StateName};
use vend::{Doubt, Refusal, RefusalReason};

use crate::{
    checks::as_worker,
    env::{FIRST, TestEnv, vended},
};

async fn waiting(env: &TestEnv) -> OpenWork {
    back_office::count_open(as_worker(env).await.database()).await.unwrap()
}

#[tokio::test]
async fn an_empty_environment_waits_for_nothing() {
    let env = TestEnv::open().await;
    assert_eq!(waiting(&env).await, OpenWork::default());
}

#[tokio::test]
async fn what_is_open_is_counted_by_state_with_the_age_of_the_oldest() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let (in_flight, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    let (lost, _) = env.reserved(&merchant, "04257670473", 10_000).await;
    let (ended, _) = env.reserved(&merchant, "04257670481", 10_000).await;
    env.records(&lost, Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    env.records(&ended, vended("V1", 10_000)).await;
    env.sql(&format!(
        "UPDATE purchases SET created_at = created_at - interval '1 hour', due_at = now() - interval '2 minutes'
         WHERE id = {}",
        lost.id.0
    ));

    let open = waiting(&env).await;
    let ages: Vec<(StateName, u32, u64)> = StateName::ALL
        .map(|state| (state, open.in_state(state)))
        .map(|(state, backlog)| (state, backlog.waiting, backlog.oldest.as_secs() / 60))
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
    env.records(&in_flight, vended("V2", 10_000)).await;
    env.records(&lost, vended("V3", 10_000)).await;
    assert_eq!(waiting(&env).await.overdue, Duration::ZERO);
}

#[tokio::test]
async fn an_event_waits_for_a_webhook_endpoint_unless_its_receiver_is_the_cause() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    env.sql(
        "INSERT INTO webhook_endpoints (organisation_id, url, description, event_types, include_tokens, changed_by)
         SELECT o.id, 'https://till.example/hook', 'Till', '{}', false, 1 FROM organisations o",
    );
    assert_eq!(waiting(&env).await.webhooks.waiting, 0);
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    env.records(&order, vended("V1", 10_000)).await;
    assert_eq!(waiting(&env).await.webhooks.waiting, 1);
    env.sql("UPDATE webhook_progress SET failing_since = now()");
    assert_eq!(waiting(&env).await.webhooks.waiting, 0);
}

#[tokio::test]
async fn an_incident_waits_until_a_person_has_dealt_with_it() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    let refusal = Refusal::because(RefusalReason::Blocked);
    let refused = Event::Refused { fence: FIRST, refusal, source: purchase::RefusalSource::Answer };
    env.records(&order, refused).await;
    env.records(&order, vended("LATE", 10_000)).await;
    assert_eq!(waiting(&env).await.incidents.waiting, 1);

    env.sql("INSERT INTO incident_decisions (incident_id, actor, reason) SELECT id, 'naledi', 'paid' FROM incidents");
    assert_eq!(waiting(&env).await.incidents.waiting, 0);
}

#[tokio::test]
async fn a_store_is_healthy_until_a_migration_ends_its_program() {
    let env = TestEnv::open().await;
    env.store.check_health().await.unwrap();
    env.sql("INSERT INTO __diesel_schema_migrations (version) VALUES ('29991231000000')");
    env.store.check_health().await.unwrap();
    env.sql("UPDATE served_programs SET oldest_schema = '29991231000000'");
    let sick = env.store.check_health().await.unwrap_err();
    assert!(matches!(&sick, DatabaseError::ProgramTooOld { .. }), "{sick}");
}

#[tokio::test]
async fn a_discrepancy_waits_until_a_person_or_its_unmatched_vend_is_decided() {
    let env = TestEnv::open().await;
    let _with_its_accounts = env.merchant_with(1_000).await;
    env.sql(
        "INSERT INTO discrepancies (kind, provider_code, provider_reference, provider_transaction, differs, purchase_id, is_by_person,
             vended_at, product, currency, net)
         VALUES ('ONLY_OURS', 'BPC', 'A1', 'R-1', '', 1, true, NULL, NULL, NULL, NULL),
             ('ONLY_OURS', 'BPC', 'A2', 'R-2', '', 2, false, NULL, NULL, NULL, NULL),
             ('ONLY_THEIRS', 'BPC', 'A3', 'R-3', '', NULL, false, now(), 'AIRTIME', 'BWP', 1000)",
    );
    let waiting_of = async || {
        let open = waiting(&env).await.discrepancies;
        [open.only_ours_by_hand, open.only_ours, open.only_theirs, open.different].map(|pile| pile.waiting)
    };
    assert_eq!(waiting_of().await, [1, 1, 1, 0]);
    env.sql(
        "INSERT INTO discrepancy_decisions (discrepancy_id, actor, reason)
         SELECT id, 'naledi', 'their list was wrong' FROM discrepancies WHERE is_by_person",
    );
    env.sql(
        "INSERT INTO unmatched_vends (id, provider_code, provider_reference, provider_transaction, vended_at, product,
             subscriber_identifier, currency, net)
         VALUES (1, 'BPC', 'A3', 'R-3', now(), 'AIRTIME', '26771400001', 'BWP', 1000)",
    );
    assert_eq!(waiting_of().await, [0, 1, 1, 0], "it is entered, and not decided");
    env.sql("INSERT INTO unmatched_vend_decisions (unmatched_vend_id, actor, reason) VALUES (1, 'naledi', 'disputed')");
    assert_eq!(waiting_of().await, [0, 1, 0, 0]);
}

#[tokio::test]
async fn a_provider_is_waited_for_when_it_was_reconciled_once_and_is_offered() {
    let env = TestEnv::open().await;
    let _offered_nothing = env.merchant_with(1_000).await;
    let behind = async || waiting(&env).await.unreconciled.as_secs();
    env.sql(
        "INSERT INTO reconciliations (provider_code, file_name, file_sha256, covers_from, covers_until, tolerance_s, actor, reason)
         VALUES ('BPC', 'bpc.csv', sha256(''), now() - interval '5 days', now() - interval '4 days', 60, 'naledi', 'daily')",
    );
    assert_eq!(behind().await, 0, "it was interrupted");
    env.sql(
        "UPDATE reconciliations
         SET lines = 0, matched = 0, still_open = 0, only_theirs = 0, different = 0, only_ours = 0",
    );
    assert_eq!(behind().await, 0, "it is not offered");
    env.sql(
        "INSERT INTO offers (organisation_id, product, provider_code, currency)
         SELECT id, 'ELECTRICITY', 'BPC', 'BWP' FROM organisations LIMIT 1",
    );
    assert!((345_600..345_700).contains(&behind().await));
}
