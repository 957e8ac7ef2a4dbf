//! Query plans: due purchases are read from an index, a few of each organisation, however many are open and however long the
//! history is.

use database::{Purpose, Statement};
use local_postgres::{CUSTOM_PLANS, GENERIC_PLANS, executed_plan, pages_touched};
use test_kit::database::migrated;

use super::LockDue;

/// 20,000 open purchases of two providers and five organisations, half of them due, among 40,000 that have ended.
const PURCHASES: &str = "
    SET session_replication_role = replica;
    INSERT INTO providers (code, name) VALUES ('BPC', 'Power'), ('WUC', 'Water');
    INSERT INTO purchases (id, reference, organisation_id, client_id, user_id, account_id, source_channel, language,
        product, provider_code, subscriber_identifier, beneficiary_phone_number, currency, entry, charge, net, total,
        commission, requester_sms, beneficiary_sms, requester_email, beneficiary_email, created_at, state, handling,
        fence, attempt, requests, window_closes_at, copies, last_sent_at, provider_reference, ended_at, failure, due_at)
    SELECT n, 'TOP', n % 5, 1, 1, 1, 'WEB', 'en', 'ELECTRICITY', CASE WHEN n % 2 = 0 THEN 'BPC' ELSE 'WUC' END, '05' || n,
        '26771234567', 'BWP', 100, 0, 100, 100, 0, true, true, true, true, now(),
        CASE WHEN n % 3 = 0 THEN 'IN_DOUBT' ELSE 'FAILED' END, 'SELF_MANAGED', 1, 1, 0, now(),
        CASE WHEN n % 3 = 0 THEN 1 END, CASE WHEN n % 3 = 0 THEN now() END, '000001',
        CASE WHEN n % 3 <> 0 THEN now() END, CASE WHEN n % 3 <> 0 THEN 'OPERATOR' END,
        CASE WHEN n % 3 = 0 THEN now() + (n - 30000) * interval '1 s' END
    FROM generate_series(1, 60000) AS n;";

/// Most of what is due ends. Its index entries stay until a vacuum.
const MOST_END: &str = "
    SET session_replication_role = replica;
    UPDATE purchases SET state = 'FAILED', copies = NULL, last_sent_at = NULL, ended_at = now(), failure = 'OPERATOR', due_at = NULL
    WHERE due_at < now() - interval '1000 s'";

/// Thousands of purchases of two organisations that are due, after the statistics were made.
const MANY_OPEN: &str = "
    SET session_replication_role = replica;
    UPDATE purchases SET state = 'IN_DOUBT', copies = 1, last_sent_at = now(), ended_at = NULL, failure = NULL,
        due_at = now() - id * interval '1 ms'
    WHERE id < 20000 AND id % 5 IN (2, 4)";

const TYPES: &str = "text[], bigint[], timestamptz[], text[], bigint[], bigint[]";

/// Of each organisation, for 64 slots. A purchase may be locked, so the candidates are four times the slots. Four organisations share
/// them, because the fifth has much in hand.
const READ: u64 = 4 * 64 / 4 + 1;

/// The session that claims admits few plans. In the other two the planner is free, so they show that the statement itself is right.
const SESSIONS: [&str; 3] = [Purpose::Money.session(), CUSTOM_PLANS, GENERIC_PLANS];

/// The most rows that a scan of the purchases returned at a time.
fn rows_of_scans(plan: &str) -> u64 {
    let scans = plan.lines().filter(|line| line.contains(" on purchases "));
    let rows =
        scans.filter_map(|line| line.split_once("(actual rows=")?.1.split([' ', '.']).next()?.parse().ok());
    rows.max().unwrap_or(u64::MAX)
}

#[test]
fn what_is_due_comes_off_an_index_however_much_is_open() {
    let database = migrated();
    database.run_sql(PURCHASES).unwrap();
    for prepared in ["SELECT", "ANALYZE"] {
        database.run_sql(prepared).unwrap();
        for session in SESSIONS {
            let values = "'{BPC,WUC}', '{64,64}', '{NULL,2020-01-01}', '{BPC,WUC}', '{1,2}', '{60,1}'";
            let plan = executed_plan(&database, session, TYPES, LockDue::SQL, values);
            assert!(!plan.contains("Seq Scan on purchases"), "{prepared} {session}\n{plan}");
            assert!(plan.contains("purchases_due_by_organisation"), "{prepared} {session}\n{plan}");
            assert!(rows_of_scans(&plan) <= READ, "{prepared} {session}\n{plan}");
        }
    }
}

#[test]
fn a_claim_that_begins_at_the_oldest_does_not_pass_over_those_that_have_ended() {
    let database = migrated();
    database.run_sql(PURCHASES).unwrap();
    database.run_sql(MOST_END).unwrap();
    let pages = |since: &str| {
        let values = format!("'{{BPC}}', '{{64}}', ARRAY[{since}]::timestamptz[], '{{}}', '{{}}', '{{}}'");
        pages_touched(&executed_plan(&database, Purpose::Money.session(), TYPES, LockDue::SQL, &values))
    };
    // The first claim that passes over such entries marks them.
    let (from_the_oldest, from_the_first) = (pages("now() - interval '1000 s'"), pages("NULL"));
    assert!(from_the_first > 3 * from_the_oldest, "{from_the_first} and {from_the_oldest} pages");
}

#[test]
fn a_claim_reads_each_candidate_by_its_key_also_if_the_statistics_know_of_no_open_purchase() {
    let database = migrated();
    let long_ago = PURCHASES.replace("n % 3 = 0", "n < 0").replace("n % 3 <> 0", "n > 0");
    database.run_sql(&long_ago).unwrap();
    database.run_sql("ANALYZE").unwrap();
    database.run_sql(MANY_OPEN).unwrap();
    let values = "'{BPC}', '{64}', '{NULL}', '{BPC}', '{2}', '{3}'";
    let plan = executed_plan(&database, Purpose::Money.session(), TYPES, LockDue::SQL, values);
    assert!(plan.contains("Index Scan using purchases_pkey on purchases"), "{plan}");
    // Half of the candidates of each of the two organisations.
    assert!(rows_of_scans(&plan) <= 2 * READ, "{plan}");
}
