//! Query plans for an operator's page in the long history of all organisations. The tool runs each query once and ends,
//! so its queries have custom plans.

use database::Statement;
use local_postgres::{CUSTOM_PLANS, LocalDatabase, executed_plan, pages_touched};
use test_kit::database::migrated;

use super::{OverseeById, OverseeByReference, OverseeBySubscriber, OverseeByTime, OverseeOpen};

/// Two organisations with 24,000 purchases each.
const HISTORY: &str = include_str!("../../../store/src/listing/history.sql");

const EVERY_STATE: &str = "'{IN_FLIGHT,IN_DOUBT,RETRY_DUE,REVIEW,SUCCESSFUL,FAILED}'";

/// The executed plan for twenty purchases, of one organisation or of all.
fn plan<S: Statement>(database: &LocalDatabase, organisation: &str, wanted: &str) -> String {
    let types = "bigint, text[], text, text, text, bigint, timestamptz, bigint, bigint, bigint";
    let values = format!("{organisation}, {EVERY_STATE}, {wanted}");
    executed_plan(database, CUSTOM_PLANS, types, S::SQL, &values)
}

#[test]
fn an_operators_page_costs_a_page_for_each_organisation_whatever_the_history() {
    let database = migrated();
    database.run_sql(HISTORY).unwrap();
    database.run_sql("ANALYZE").unwrap();
    let (newest, oldest) = ("'2026-11-20 11:43:20Z', 0, 20", "'1970-01-01Z', 0, 20");
    for organisation in ["1", "NULL"] {
        let ask = |wanted: &str, place: &str, id: &str| format!("{wanted}, NULL, 0, {place}, {id}");
        let anything = ask("NULL, NULL", newest, "NULL");
        let by_time = plan::<OverseeByTime>(&database, organisation, &anything);
        let open = plan::<OverseeOpen>(&database, organisation, &ask("NULL, NULL", oldest, "NULL"));
        let subscriber = ask("'0517', NULL", newest, "NULL");
        let subscriber = plan::<OverseeBySubscriber>(&database, organisation, &subscriber);
        let reference = ask("NULL, 'R2002'", newest, "NULL");
        let reference = plan::<OverseeByReference>(&database, organisation, &reference);
        let id = plan::<OverseeById>(&database, organisation, &ask("NULL, NULL", newest, "20011"));
        for (plan, index, pages_max) in [
            (by_time, "purchases_by_created_at", 200),
            (open, "purchases_", 120),
            (subscriber, "purchases_by_subscriber", 200),
            (reference, "purchases_by_reference", 100),
            (id, "purchases_pkey", 30),
        ] {
            let is_found_so = plan.contains(index) && !plan.contains("Seq Scan on purchases");
            assert!(is_found_so, "{organisation} {index}\n{plan}");
            let touched = pages_touched(&plan);
            assert!(touched <= pages_max, "{touched} pages: {organisation} {index}\n{plan}");
        }
    }
}
