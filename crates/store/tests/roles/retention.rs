//! Retention: what is erased from an ended purchase, what stays, and that there is no other way to do it.

use std::{fs, path::Path};

use back_office::{CheckProgress, EraseError, Erased, Person, RetentionSettings, apply_retention};
use database::DatabaseError;
use purchase::{Event, RefusalSource};
use store::{Reservation, RetryKey, Store};
use test_kit::database::WORKER;
use vend::{Product, Refusal, RefusalReason, SubscriberIdentifier};

use crate::env::{FIRST, Merchant, TestEnv, act, vend, vended};
use crate::forging::copy_of;
use crate::installation::{LOGINS, Login, env};

const PHONE: &str = "26771234567";
const BOTH: RetentionSettings = RetentionSettings { personal_data_months: 24, sealed_values_months: 24 };

/// Everything of a purchase that a person could be known by, and its sealed values.
const TRACES: &str = "SELECT subscriber_identifier LIKE 'erased.%', beneficiary_phone_number, comment, subscriber_details,
    vend_subscriber_details, failure_wording, sealed_token IS NULL, token_key_id, encode(request_hash, 'hex') FROM purchases";

/// Everything that the books and final answers consist of.
const BOOKS: &str = "
    SELECT id, state, total, commission, external_reference, provider_reference, provider_transaction, failure_reason, ended_at
        FROM purchases ORDER BY id;
    SELECT * FROM journal_entries ORDER BY id; SELECT * FROM postings ORDER BY entry_id, amount;
    SELECT id, posted, held FROM accounts ORDER BY id; SELECT * FROM attempts ORDER BY purchase_id, number;
    SELECT * FROM purchase_events ORDER BY id";

struct Sold {
    env: TestEnv,
    worker: Store,
    merchant: Merchant,
    electricity: Reservation,
    airtime: Reservation,
    failed: Reservation,
}

impl Sold {
    /// Three purchases that ended 25 months ago, and one that ended now.
    async fn long_ago() -> Self {
        let env = env().await;
        let (worker, merchant) = (env.store_as(WORKER).await, env.merchant_with(50_000).await);
        let electricity = env.order_under("till-1", &merchant, "04000000001", 1_000).await;
        env.store.reserve(electricity.clone()).await.unwrap();
        env.records(&electricity, vended("V1", 1_000)).await;
        let mut airtime = env.order(&merchant, PHONE, 1_000).await;
        airtime.request.product = Product::Airtime;
        airtime.request.external_reference = Some("till-2".to_owned());
        env.store.reserve(airtime.clone()).await.unwrap();
        let sold = vend::Vend { tokens: None, units: None, ..vend("V2", 1_000) };
        env.records(&airtime, Event::Vended { vend: Box::new(sold) }).await;
        let (failed, _) = env.reserved(&merchant, "04000000003", 1_000).await;
        let refusal =
            Refusal { reason: RefusalReason::Blocked, wording: Some("K. MOLEFE is blocked".into()) };
        env.records(&failed, Event::Refused { fence: FIRST, refusal, source: RefusalSource::Answer }).await;
        ages(&env, "25 months");
        let (young, _) = env.reserved(&merchant, "04000000004", 1_000).await;
        env.records(&young, vended("V4", 1_000)).await;
        Self { env, worker, merchant, electricity, airtime, failed }
    }

    async fn applies(&self, settings: RetentionSettings) -> Erased {
        apply_retention(self.worker.database(), settings).await.unwrap()
    }

    fn traces(&self, of: &Reservation) -> String {
        self.env.sql(&format!("{TRACES} WHERE id = {}", of.id.0))
    }

    fn key(&self, of: &Reservation) -> RetryKey {
        RetryKey {
            organisation: self.merchant.authority.organisation,
            subscriber: of.request.subscriber.clone(),
            external_reference: of.request.external_reference.clone().unwrap(),
            product: None,
        }
    }

    async fn has_its_books(&self) {
        let found = back_office::check_books(&self.worker, &mut CheckProgress::default()).await.unwrap();
        assert_eq!(found, []);
    }
}

/// Moves every purchase into the past.
fn ages(env: &TestEnv, by: &str) {
    env.sql(&format!(
        "SET session_replication_role = replica;
         UPDATE purchases SET created_at = created_at - interval '{by}', ended_at = ended_at - interval '{by}';
         UPDATE provider_replies SET at = at - interval '{by}'; UPDATE incidents SET at = at - interval '{by}'"
    ));
}

#[tokio::test]
async fn the_page_about_retention_has_one_line_for_each_table() {
    let env = env().await;
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations/RETENTION.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, tables) = page.split_once("## Every table").unwrap();
    let listed = tables.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let listed: Vec<&str> = listed.map(|(table, _)| table).collect();
    let stored = env.sql(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
         ORDER BY relname",
    );
    assert_eq!(listed, stored.lines().collect::<Vec<_>>());
}

#[tokio::test]
async fn without_a_setting_nothing_is_erased() {
    let sold = Sold::long_ago().await;
    let before = sold.env.sql("SELECT p FROM purchases p ORDER BY id");
    assert_eq!(sold.applies(RetentionSettings::default()).await, Erased::default());
    assert_eq!(sold.env.sql("SELECT p FROM purchases p ORDER BY id"), before);
    assert_eq!(sold.env.count("audit_log WHERE action = 'retention.applied'"), 0);
}

#[tokio::test]
async fn personal_data_ends_after_its_months_and_the_books_stay_as_they_were() {
    let sold = Sold::long_ago().await;
    let before = sold.env.sql(BOOKS);
    let only_personal = RetentionSettings { sealed_values_months: 0, ..BOTH };
    assert_eq!(sold.applies(only_personal).await, Erased { personal_data: 3, sealed_values: 0 });
    let zeros = "0".repeat(64);
    assert_eq!(sold.traces(&sold.electricity), format!("f|erased|||||f|1|{zeros}"));
    assert_eq!(sold.traces(&sold.airtime), "t|erased|||||t||");
    assert_eq!(sold.traces(&sold.failed), "f|erased|||||t||");
    assert_eq!(sold.env.sql(BOOKS), before);
    assert_eq!(sold.env.count("provider_replies"), 3, "they have months of their own");
    assert_eq!(sold.env.count(&format!("purchases WHERE beneficiary_phone_number = '{PHONE}'")), 1);
    sold.has_its_books().await;
    assert_eq!(sold.applies(only_personal).await, Erased::default(), "it was done");
    let line =
        "SELECT actor, login, action, subject, details ->> 'rows' FROM audit_log ORDER BY id DESC LIMIT 1";
    assert_eq!(sold.env.sql(line), "housekeeping|test_worker|retention.applied|retention:personal_data|3");
}

#[tokio::test]
async fn sealed_values_end_after_their_months_and_the_checks_miss_no_evidence() {
    let sold = Sold::long_ago().await;
    let before = sold.env.sql(BOOKS);
    let only_sealed = RetentionSettings { personal_data_months: 0, ..BOTH };
    assert_eq!(sold.applies(only_sealed).await, Erased { personal_data: 0, sealed_values: 3 });
    assert_eq!(sold.env.count("provider_replies"), 1, "that of the young purchase");
    assert_eq!(sold.env.count("purchases WHERE sealed_token IS NOT NULL"), 1);
    assert!(
        sold.traces(&sold.electricity).contains("till 3|K. MOLEFE|K. MOLEFE"),
        "{}",
        sold.traces(&sold.electricity)
    );
    assert_eq!(sold.env.sql(BOOKS), before);
    sold.has_its_books().await;
    // One kind after the other settles nothing a second time either.
    assert_eq!(sold.applies(BOTH).await, Erased { personal_data: 3, sealed_values: 0 });
    assert_eq!(sold.env.sql(BOOKS), before);
    sold.has_its_books().await;
}

#[tokio::test]
async fn a_retry_of_an_erased_purchase_finds_it_and_never_says_not_found() {
    let sold = Sold::long_ago().await;
    sold.applies(BOTH).await;
    for order in [&sold.electricity, &sold.airtime, &sold.failed] {
        let found = sold.env.store.find_for_retry(sold.key(order)).await.unwrap().unwrap();
        assert_eq!(found.record.id, order.id);
        assert_eq!(found.record.beneficiary_phone_number, "erased");
    }
    assert_eq!(sold.env.count("closed_references"), 0);
    // Another number under the same reference was never bought for.
    let other = RetryKey {
        subscriber: SubscriberIdentifier::parse("26779999999").unwrap(),
        ..sold.key(&sold.airtime)
    };
    assert!(sold.env.store.find_for_retry(other).await.unwrap().is_none());
    // A later purchase of the same number and reference is the newest.
    let mut again = sold.env.order(&sold.merchant, PHONE, 1_000).await;
    again.request.product = Product::Airtime;
    again.request.external_reference = sold.airtime.request.external_reference.clone();
    sold.env.store.reserve(again.clone()).await.unwrap();
    let found = sold.env.store.find_for_retry(sold.key(&sold.airtime)).await.unwrap().unwrap();
    assert_eq!(found.record.id, again.id);
    sold.env.records(&again, Event::NeverSent { fence: FIRST }).await;
}

#[tokio::test]
async fn what_is_open_stays_until_it_has_ended_and_is_not_forgotten() {
    let env = env().await;
    let (worker, merchant) = (env.store_as(WORKER).await, env.merchant_with(50_000).await);
    let (open, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    let (failed, _) = env.reserved(&merchant, "04000000002", 1_000).await;
    env.records(&failed, Event::NeverSent { fence: FIRST }).await;
    env.records(&failed, vended("LATE", 1_000)).await;
    ages(&env, "30 months");
    assert_eq!(apply_retention(worker.database(), BOTH).await.unwrap(), Erased::default());
    let left = "SELECT DISTINCT left_behind FROM retention_progress";
    assert_eq!(env.sql(left), format!("{{{},{}}}", open.id.0, failed.id.0));

    env.records(&open, Event::NeverSent { fence: FIRST }).await;
    oversight::close_incident(env.operator.database(), 1, false, act()).await.unwrap();
    env.sql("SET session_replication_role = replica; UPDATE incident_decisions SET at = at - interval '25 months'");
    let one = Erased { personal_data: 1, sealed_values: 1 };
    assert_eq!(apply_retention(worker.database(), BOTH).await.unwrap(), one, "the other has just ended");
    ages(&env, "30 months");
    assert_eq!(apply_retention(worker.database(), BOTH).await.unwrap(), one);
    assert_eq!(env.sql(left), "{}");
}

#[tokio::test]
async fn a_history_is_erased_in_batches_each_with_its_line_in_the_audit_log() {
    let sold = Sold::long_ago().await;
    let worker = Login::of(&sold.env.database, "test_worker").await;
    let batch = "SELECT reached, erased FROM apply_retention('PERSONAL_DATA', 24, 2)";
    let mut batches = Vec::new();
    for _ in 0..3 {
        batches.extend(worker.runs(batch).await.unwrap());
    }
    assert_eq!(batches, [["2", "2"], ["1", "1"], ["0", "0"]]);
    assert_eq!(sold.env.count("audit_log WHERE action = 'retention.applied'"), 2);
}

#[tokio::test]
async fn no_login_erases_in_any_other_way() {
    let sold = Sold::long_ago().await;
    let (env, id) = (&sold.env, sold.electricity.id.0);
    let (open, _) = env.reserved(&sold.merchant, "04000000005", 1_000).await;
    let tried = [
        "UPDATE purchases SET comment = NULL".to_owned(),
        "UPDATE purchases SET beneficiary_phone_number = 'erased', personal_data_erased_at = now()"
            .to_owned(),
        "UPDATE purchases SET sealed_token = NULL, token_key_id = NULL".to_owned(),
        "UPDATE purchases SET vend_subscriber_details = NULL".to_owned(),
        "UPDATE incidents SET sealed_token = NULL".to_owned(),
        "DELETE FROM provider_replies".to_owned(),
        "DELETE FROM purchase_events".to_owned(),
        "INSERT INTO erasures_under_way VALUES (pg_current_xact_id())".to_owned(),
        "UPDATE retention_progress SET left_behind = '{}'".to_owned(),
        "SELECT key FROM pseudonym_keys".to_owned(),
        format!("SELECT erase_from_purchases(ARRAY[{id}]::bigint[], true, true)"),
        "SELECT erase_from_unmatched_vends('PERSONAL_DATA', now())".to_owned(),
        "SELECT erasure_is_under_way()".to_owned(),
        copy_of(open.id, "personal_data_erased_at = now()"),
        copy_of(open.id, "sealed_values_erased_at = now()"),
    ];
    for login in LOGINS {
        let forger = Login::of(&env.database, login).await;
        for attempt in &tried {
            let said = forger.is_refused(attempt).await;
            assert!(
                ["permission denied", "has ended", "violates", "purchases_of_a_batch_are_as_its_line"]
                    .iter()
                    .any(|word| said.contains(word)),
                "{login}: {attempt}: {said}"
            );
        }
        let own = if login == "test_operator" {
            "apply_retention('PERSONAL_DATA', 1, 1)"
        } else {
            "erase_person('{}', '{}', true, 'x', 'x')"
        };
        let said = forger.is_refused(&format!("SELECT {own}")).await;
        assert!(said.contains("permission denied"), "{login}: {said}");
    }
    assert_eq!(env.count("purchases WHERE personal_data_erased_at IS NOT NULL"), 0);
    assert_eq!(env.count("provider_replies"), 3);
    env.records(&open, Event::NeverSent { fence: FIRST }).await;
}

#[tokio::test]
async fn not_even_the_owner_changes_an_ended_purchase_by_accident() {
    let sold = Sold::long_ago().await;
    let owner = Login::of(&sold.env.database, "test_owner").await;
    sold.applies(RetentionSettings { personal_data_months: 24, sealed_values_months: 0 }).await;
    for change in [
        "comment = NULL",
        "sealed_token = NULL, token_key_id = NULL, sealed_values_erased_at = now()",
        "total = total",
    ] {
        let said = owner.is_refused(&format!("UPDATE purchases SET {change}")).await;
        assert!(said.contains("has ended"), "{change}: {said}");
    }
    // With a forged mark a session still changes nothing but what an erasure changes.
    let forged = "INSERT INTO erasures_under_way VALUES (pg_current_xact_id())";
    for change in [
        "total = total + 1",
        "state = 'FAILED', failure = 'OPERATOR'",
        "external_reference = NULL",
        "comment = 'another', personal_data_erased_at = now()",
        "subscriber_identifier = 'another', personal_data_erased_at = now()",
        "sealed_token = 'another', sealed_values_erased_at = now()",
    ] {
        let of = sold.electricity.id.0;
        let said = owner
            .is_refused(&format!("BEGIN; {forged}; UPDATE purchases SET {change} WHERE id = {of}"))
            .await;
        assert!(said.contains("has ended"), "{change}: {said}");
        owner.runs("ROLLBACK").await.unwrap();
    }
    for history in [
        "DELETE FROM attempts",
        "UPDATE purchase_events SET fact = 'VENDED'",
        "UPDATE postings SET amount = 1",
        "DELETE FROM audit_log",
        "TRUNCATE provider_replies",
    ] {
        let said = owner.is_refused(&format!("BEGIN; {forged}; {history}")).await;
        assert!(said.contains("is append-only"), "{history}: {said}");
        owner.runs("ROLLBACK").await.unwrap();
    }
}

#[tokio::test]
async fn a_retention_of_less_than_a_month_is_refused() {
    let sold = Sold::long_ago().await;
    let worker = Login::of(&sold.env.database, "test_worker").await;
    for call in [
        "'PERSONAL_DATA', 0, 10",
        "'PERSONAL_DATA', -24, 10",
        "'MONEY', 24, 10",
        "NULL, 24, 10",
        "'PERSONAL_DATA', 24, 0",
    ] {
        let said = worker.is_refused(&format!("SELECT apply_retention({call})")).await;
        assert!(said.contains("retention_is_a_month_at_least"), "{call}: {said}");
    }
}

#[tokio::test]
async fn a_phone_number_is_not_erased_while_a_program_is_connected_that_would_not_find_it() {
    let sold = Sold::long_ago().await;
    // As a program of the schema before pseudonyms holds it.
    let earlier = Login::of(&sold.env.database, "test_server").await;
    earlier.runs("SELECT pg_advisory_lock_shared((x'7667'::bigint << 48) | 20261124000022)").await.unwrap();
    let refused = apply_retention(sold.worker.database(), BOTH).await;
    assert!(matches!(refused, Err(DatabaseError::Query { .. })), "{refused:?}");
    assert_eq!(sold.env.count("purchases WHERE personal_data_erased_at IS NOT NULL"), 0);
    let served = "SELECT oldest_schema FROM served_programs";
    assert_eq!(sold.env.sql(served), "20261123000016");
    earlier.runs("SELECT pg_advisory_unlock_all()").await.unwrap();
    assert_eq!(sold.applies(BOTH).await.personal_data, 3);
    assert_eq!(sold.env.sql(served), "20261124000030", "no such program is served from here on");
}

#[tokio::test]
async fn one_person_is_exported_and_erased_on_request_and_both_are_audited() {
    let sold = Sold::long_ago().await;
    let (env, operator) = (&sold.env, sold.env.operator.database());
    let person = Person::new(&[PHONE.to_owned()]);
    let export = back_office::export_person(operator, person.clone(), act()).await.unwrap();
    assert_eq!(export.purchases, 4, "the young one too");
    let text = export.data.to_string();
    for stored in ["04000000001", "K. MOLEFE is blocked", "till 3", "\"fact\":\"VENDED\"", "has_sealed_token"]
    {
        assert!(text.contains(stored), "{stored}: {text}");
    }
    assert!(
        !text.contains("\"sealed_reply\"")
            && !text.contains("\"sealed_token\"")
            && !text.contains("request_hash")
    );

    let refused = back_office::erase_person(operator, person.clone(), act()).await;
    assert!(matches!(refused, Err(EraseError::Recent { .. })), "{refused:?}");
    let (open, _) = env.reserved(&sold.merchant, "04000000005", 1_000).await;
    let refused = back_office::erase_person(operator, person.clone(), act()).await;
    assert!(matches!(refused, Err(EraseError::Open(id)) if id == open.id), "{refused:?}");
    env.records(&open, Event::NeverSent { fence: FIRST }).await;
    ages(env, "8 days");
    let erased = back_office::erase_person(operator, person.clone(), act()).await.unwrap();
    assert_eq!((erased.found, erased.erased), (5, 5));
    assert_eq!(
        env.count(&format!("purchases p WHERE p::text LIKE '%{PHONE}%' OR p::text LIKE '%MOLEFE%'")),
        0
    );
    assert_eq!(env.count("provider_replies"), 0);
    sold.has_its_books().await;

    // What is left under a pseudonym is still found, and the log does not name the person.
    let export = back_office::export_person(operator, person, act()).await.unwrap();
    assert_eq!(export.purchases, 1, "the airtime, by its pseudonym");
    let lines = env.sql("SELECT action, count(*) FROM audit_log WHERE subject LIKE 'person:erased.%' GROUP BY action ORDER BY 1");
    assert_eq!(lines, "person.erased|1\nperson.exported|2");
    assert_eq!(env.count(&format!("audit_log l WHERE l::text LIKE '%{PHONE}%'")), 0);
    let found = env.store.find_for_retry(sold.key(&sold.airtime)).await.unwrap().unwrap();
    assert_eq!(found.record.id, sold.airtime.id);
}

impl Sold {
    /// A batch with four lines: one that was bought long ago, one that was cancelled and one that waits are the person's, and the last one
    /// is not.
    fn has_a_batch(&self) {
        self.env.sql(&format!(
            "SET session_replication_role = replica;
             INSERT INTO batches (organisation_id, client_id, user_id, access_token_id, reference, content_hash, account_id, language,
                currency, amount, lines, open_lines, changed_by)
             SELECT {}, client_id, user_id, 1, 'salaries', sha256('x'), account_id, 'en-BW', 'BWP', 4000, 4, 1, user_id
             FROM purchases WHERE id = {bought};
             UPDATE purchases SET idempotency_key = batch_line_key((SELECT max(id) FROM batches), 1) WHERE id = {bought};
             INSERT INTO batch_lines (batch_id, number, product, provider_code, subscriber_identifier, beneficiary_phone_number, currency,
                amount, charges_on_top, comment, external_reference, requester_sms, beneficiary_sms, requester_email, beneficiary_email,
                state, fence, purchase_id, ended_at)
             SELECT b.id, l.number, 'ELECTRICITY', 'P', l.meter, l.phone, 'BWP', 1000, false, 'for K. MOLEFE', 'salaries/' || l.number,
                false, false, false, false, l.state, 1, l.purchase, CASE WHEN l.state <> 'WAITING' THEN now() END
             FROM batches b, (VALUES
                (1, '04000000001', '{PHONE}', 'SUCCESSFUL', {bought}), (2, '{PHONE}', '26770000000', 'CANCELLED', NULL),
                (3, '04000000009', '{PHONE}', 'WAITING', NULL), (4, '04000000008', '26770000000', 'CANCELLED', NULL)
             ) AS l (number, meter, phone, state, purchase)",
            self.merchant.authority.organisation.0,
            bought = self.electricity.id.0,
        ));
    }
}

#[tokio::test]
async fn a_person_is_erased_from_the_lines_of_batches_too_once_they_have_ended() {
    let sold = Sold::long_ago().await;
    let (env, operator) = (&sold.env, sold.env.operator.database());
    sold.has_a_batch();
    ages(env, "8 days");
    let person = Person::new(&[PHONE.to_owned()]);
    let export = back_office::export_person(operator, person.clone(), act()).await.unwrap();
    assert_eq!(export.data["batch_lines"].as_array().unwrap().len(), 3, "{}", export.data["batch_lines"]);
    let refused = back_office::erase_person(operator, person.clone(), act()).await;
    assert!(matches!(refused, Err(EraseError::OpenBatch(_))), "{refused:?}");
    let direct = Login::of(&env.database, "test_operator").await;
    let said = direct
        .is_refused(&format!(
            "SELECT erase_person(ARRAY['{PHONE}'], '{{}}'::bigint[], true, 'naledi', 'asked')"
        ))
        .await;
    assert!(said.contains("erased_persons_have_nothing_open"), "{said}");
    assert_eq!(env.count(&format!("batch_lines l WHERE l::text LIKE '%{PHONE}%'")), 3, "nothing was erased");

    env.sql("UPDATE batch_lines SET state = 'CANCELLED', ended_at = now() WHERE state = 'WAITING'");
    back_office::erase_person(operator, person, act()).await.unwrap();
    let lines = env.sql(
        "SELECT number, subscriber_identifier, beneficiary_phone_number, comment, state, amount FROM batch_lines ORDER BY number",
    );
    assert_eq!(
        lines,
        "1|04000000001|erased||SUCCESSFUL|1000\n2|erased|erased||CANCELLED|1000\n3|erased|erased||CANCELLED|1000\n\
         4|04000000008|26770000000|for K. MOLEFE|CANCELLED|1000"
    );
    assert_eq!(env.sql("SELECT status, open_lines FROM batches"), "FINISHED|0");
}

#[tokio::test]
async fn only_the_persons_own_purchases_are_erased_and_none_that_is_needed() {
    let sold = Sold::long_ago().await;
    let operator = Login::of(&sold.env.database, "test_operator").await;
    let (open, _) = sold.env.reserved(&sold.merchant, "04000000009", 1_000).await;
    let id = sold.electricity.id.0;
    let erase = |person: &str, of: i64| {
        format!("SELECT erase_person(ARRAY['{person}'], ARRAY[{of}]::bigint[], true, 'naledi', 'asked')")
    };
    for (attempt, constraint) in [
        (erase("26770000000", id), "erased_purchases_are_the_persons"),
        (erase(PHONE, id), "erased_persons_have_nothing_open"),
        (erase("04000000009", open.id.0), "erased_persons_have_nothing_open"),
        (erase("04000000001", 999_999), "erased_purchases_are_the_persons"),
    ] {
        let said = operator.is_refused(&attempt).await;
        assert!(said.contains(constraint), "{attempt}: {said}");
    }
    operator.runs(&erase("04000000001", id)).await.unwrap();
    assert!(
        sold.traces(&sold.electricity).starts_with("f|erased|||||t|"),
        "{}",
        sold.traces(&sold.electricity)
    );
    assert!(!sold.traces(&sold.failed).contains("erased"), "{}", sold.traces(&sold.failed));
    sold.env.records(&open, Event::NeverSent { fence: FIRST }).await;
}
