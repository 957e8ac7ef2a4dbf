//! Query plans for a page in a long history: which index serves, and how many pages of the database are touched, both
//! with a custom plan and with a generic plan.

use local_postgres::Database;

use super::{ListByReference, ListBySubscriber, ListByTime, ListFailed, ListPending};
use crate::statement::Statement;
use crate::test_database::migrated;

/// Two organisations with 24,000 purchases each, one per second, of 1,500 subscribers. Every 300th has failed, and
/// every 3000th is open. The rows bypass the triggers, which would require funded wallets. Every second purchase has an
/// external reference, and every fourth has the same one. With a shorter history the planner would be right to read all
/// of it.
pub(crate) const HISTORY: &str = "
    SET session_replication_role = replica;
    INSERT INTO organisations (code, name, environment) VALUES ('A', 'A', 'STAGING'), ('B', 'B', 'STAGING');
    INSERT INTO users (organisation_id, username, password_hash, full_name, role)
        SELECT id, 'till', '$argon2id$', 'Till', 'INTEGRATOR' FROM organisations;
    INSERT INTO accounts (organisation_id, name, currency, category, posted, held)
        SELECT id, 'Till', 'BWP', 'CURRENT', 0, 0 FROM organisations;
    INSERT INTO providers (code, name) VALUES ('BPC', 'Power');
    INSERT INTO purchases (id, reference, organisation_id, client_id, user_id, account_id, source_channel, language,
        product, provider_code, subscriber_identifier, beneficiary_phone_number, currency, entry, charge, net, total,
        commission, external_reference, requester_sms, beneficiary_sms, requester_email, beneficiary_email, created_at,
        state, handling, fence, attempt, requests, window_closes_at, copies, last_sent_at, provider_reference, ended_at,
        failure, provider_transaction, sealed_token, token_key_id, due_at)
    SELECT n * 10 + o, 'TOP', o, 1, o, o, 'WEB', 'en', 'ELECTRICITY', 'BPC',
        CASE WHEN s = 'IN_DOUBT' THEN '07' || n ELSE '05' || n % 1500 END, '26771234567', 'BWP', 100, 0, 100, 100, 0,
        CASE WHEN n % 4 = 1 THEN 'same' WHEN n % 2 = 0 THEN 'R' || n END, true, true, true, true, timestamptz '2026-11-20 12:00Z' - n * interval '1 s',
        s, 'SELF_MANAGED', 1, 1, 0, now(), CASE WHEN s = 'IN_DOUBT' THEN 1 END, CASE WHEN s = 'IN_DOUBT' THEN now() END,
        '000001', CASE WHEN s <> 'IN_DOUBT' THEN now() END, CASE WHEN s = 'FAILED' THEN 'OPERATOR' END,
        CASE WHEN s = 'SUCCESSFUL' THEN 'V' || n END, CASE WHEN s = 'SUCCESSFUL' THEN bytea '1' END,
        CASE WHEN s = 'SUCCESSFUL' THEN 1 END, CASE WHEN s = 'IN_DOUBT' THEN now() END
    FROM generate_series(1, 2) AS o, generate_series(1, 24000) AS n,
        LATERAL (SELECT CASE WHEN n % 3000 = 0 THEN 'IN_DOUBT' WHEN n % 300 = 0 THEN 'FAILED' ELSE 'SUCCESSFUL' END AS s) AS x;";

const EVERY_STATE: &str = "{IN_FLIGHT,IN_DOUBT,RETRY_DUE,REVIEW,SUCCESSFUL,FAILED}";

/// The executed plan for a page of twenty after the newest thousand.
fn plan<S: Statement>(
    database: &Database,
    mode: &str,
    states: &str,
    subscriber: &str,
    reference: &str,
) -> String {
    let types = "bigint, timestamptz, timestamptz, bigint, bigint, text[], text, text";
    let values =
        format!("1, '1970-01-01Z', '2026-11-20 11:43:20Z', 0, 21, '{states}', {subscriber}, {reference}");
    let explained = database.run_sql(&format!(
        "SET plan_cache_mode = {mode}; PREPARE page ({types}) AS {};
         EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE page ({values})",
        S::SQL
    ));
    explained.unwrap()
}

/// The pages of the database that the whole statement touched. The first line about them is the sum.
pub(crate) fn pages_touched(plan: &str) -> u32 {
    let sum = plan.lines().find(|line| line.contains("Buffers:")).unwrap();
    let numbers = sum.split(['=', ' ']).filter_map(|word| word.parse::<u32>().ok());
    numbers.sum()
}

#[test]
fn a_page_is_found_by_an_index_and_costs_a_page_whatever_the_history() {
    let database = migrated();
    database.run_sql(HISTORY).unwrap();
    database.run_sql("ANALYZE").unwrap();
    for mode in ["force_custom_plan", "force_generic_plan"] {
        let by_time = plan::<ListByTime>(&database, mode, EVERY_STATE, "NULL", "NULL");
        let failed = plan::<ListFailed>(&database, mode, "{FAILED}", "NULL", "NULL");
        let open = "{IN_FLIGHT,IN_DOUBT,RETRY_DUE,REVIEW}";
        let pending = plan::<ListPending>(&database, mode, open, "NULL", "NULL");
        let subscriber = plan::<ListBySubscriber>(&database, mode, EVERY_STATE, "'0517'", "NULL");
        let both = plan::<ListBySubscriber>(&database, mode, EVERY_STATE, "'05502'", "'R2002'");
        let reference = plan::<ListByReference>(&database, mode, EVERY_STATE, "NULL", "'R2002'");
        let misused = plan::<ListByReference>(&database, mode, EVERY_STATE, "NULL", "'same'");
        for (plan, index, pages_max) in [
            (by_time, "purchases_by_time", 80),
            (failed, "purchases_failed", 120),
            (pending, "purchases_one_open_per_subscriber", 60),
            (subscriber, "purchases_for_retry", 100),
            (both, "purchases_for_retry", 50),
            (reference, "purchases_by_reference", 50),
            (misused, "purchases_by_reference", 120),
        ] {
            let is_found_so = plan.contains(index) && !plan.contains("Seq Scan on purchases");
            assert!(is_found_so, "{mode} {index}\n{plan}");
            let touched = pages_touched(&plan);
            assert!(touched <= pages_max, "{touched} pages: {mode} {index}\n{plan}");
        }
    }
}
