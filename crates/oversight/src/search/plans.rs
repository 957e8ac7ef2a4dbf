//! Query plans of a search in the long history of all organisations: every name is found by an index.

use database::Statement;
use local_postgres::{CUSTOM_PLANS, executed_plan, pages_touched};
use test_kit::database::migrated;

use super::{SearchByName, SearchByTime};

const HISTORY: &str = include_str!("../../../store/src/listing/history.sql");

#[test]
fn whatever_is_named_is_found_by_an_index_however_long_the_history() {
    let database = migrated();
    database.run_sql(HISTORY).unwrap();
    let attempts = "SET session_replication_role = replica;
        INSERT INTO attempts (purchase_id, number, provider_code, provider_reference, started_at)
        SELECT id, 1, provider_code, 'C' || id, created_at FROM purchases";
    database.run_sql(attempts).unwrap();
    database.run_sql("ANALYZE").unwrap();
    let types = "text, bigint, bigint, text[], text, bigint, text, timestamptz, timestamptz, bigint, bigint";
    let states = "'{IN_FLIGHT,IN_DOUBT,RETRY_DUE,REVIEW,SUCCESSFUL,FAILED}'";
    let plan = |sql: &str, name: &str, period: &str| {
        let values = format!("{name}, NULL, {states}, NULL, NULL, NULL, {period}, 0, 20");
        executed_plan(&database, CUSTOM_PLANS, types, sql, &values)
    };
    let ever = "'1970-01-01Z', '9999-01-01Z'";
    for (name, pages_max) in [
        ("'4711', 4711", 160),
        ("'0517', NULL", 400),
        ("'R2002', NULL", 160),
        ("'same', NULL", 400),
        ("'C20011', NULL", 160),
        ("'V17', NULL", 160),
        ("'nothing at all', NULL", 120),
    ] {
        let plan = plan(SearchByName::SQL, name, ever);
        assert!(!plan.contains("Seq Scan on purchases"), "{name}\n{plan}");
        let touched = pages_touched(&plan);
        assert!(touched <= pages_max, "{touched} pages: {name}\n{plan}");
    }
    let hour = plan(SearchByTime::SQL, "NULL, NULL", "'2026-11-20 11:30Z', '2026-11-20 11:31Z'");
    assert!(hour.contains("purchases_by_created_at") && pages_touched(&hour) <= 300, "{hour}");
}
