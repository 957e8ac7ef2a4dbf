//! Query plans: what a reserve is decided from is found by indexes, however many organisations and allow lists there are.

use database::{Purpose, Statement};
use local_postgres::{executed_plan, pages_touched};
use test_kit::database::migrated;

use super::FindReserveInputs;

/// 5,000 organisations with an offer, 20 of them with a full allow list.
const CATALOGUE: &str = "
    SET session_replication_role = replica;
    INSERT INTO organisations (code, name, environment) SELECT 'S' || n, 'Shop', 'STAGING' FROM generate_series(1, 5000) n;
    INSERT INTO offers (organisation_id, product, provider_code, currency)
        SELECT n, 'ELECTRICITY', 'BPC', 'BWP' FROM generate_series(1, 5000) n;
    INSERT INTO allowed_subscribers (organisation_id, subscriber_identifier)
        SELECT o, n FROM generate_series(1, 20) o, generate_series(1, 1000) n;";

#[test]
fn the_inputs_of_a_reserve_are_found_by_indexes_whatever_the_catalogue() {
    let database = migrated();
    database.run_sql(CATALOGUE).unwrap();
    for statistics in ["SELECT", "ANALYZE"] {
        database.run_sql(statistics).unwrap();
        let types = "bigint[], bigint[], text[], text[], text[], text[]";
        let values = "'{1,2}', '{7,8}', '{ELECTRICITY,WATER}', '{12,13}', '{R1,R2}', '{BPC,WUC}'";
        let plan = executed_plan(&database, Purpose::Money.session(), types, FindReserveInputs::SQL, values);
        assert!(pages_touched(&plan) <= 40, "{statistics}\n{plan}");
    }
}
