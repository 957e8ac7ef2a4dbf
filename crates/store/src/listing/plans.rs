//! Query plans for a page in a long history: which index serves, and how many pages of the database are touched, both
//! before the tables were analysed and after.

use database::{Purpose, Statement};
use local_postgres::{LocalDatabase, executed_plan, pages_touched};
use test_kit::database::migrated;

use super::{ListByReference, ListBySubscriber, ListByTime, ListFailed, ListPending};

/// Two organisations with 24,000 purchases each.
pub(crate) const HISTORY: &str = include_str!("history.sql");

const EVERY_STATE: &str = "{IN_FLIGHT,IN_DOUBT,RETRY_DUE,REVIEW,SUCCESSFUL,FAILED}";

/// About twelve for each purchase of a page: the index, and the purchase, its wallet, its provider and its buyer, each with
/// the way to it. Most of them are the same few pages.
const PAGES_MAX_WITHOUT_STATISTICS: u32 = 260;

/// The executed plan for a page of twenty after the newest thousand.
fn plan<S: Statement>(database: &LocalDatabase, states: &str, subscriber: &str, reference: &str) -> String {
    let types = "bigint, timestamptz, timestamptz, bigint, bigint, text[], text, text";
    let values =
        format!("1, '1970-01-01Z', '2026-11-20 11:43:20Z', 0, 21, '{states}', {subscriber}, {reference}");
    executed_plan(database, Purpose::Requests.session(), types, S::SQL, &values)
}

#[test]
fn a_page_is_found_by_an_index_and_costs_a_page_whatever_the_history() {
    let database = migrated();
    database.run_sql(HISTORY).unwrap();
    for statistics in ["SELECT", "ANALYZE"] {
        database.run_sql(statistics).unwrap();
        let by_time = plan::<ListByTime>(&database, EVERY_STATE, "NULL", "NULL");
        let failed = plan::<ListFailed>(&database, "{FAILED}", "NULL", "NULL");
        let open = "{IN_FLIGHT,IN_DOUBT,RETRY_DUE,REVIEW}";
        let pending = plan::<ListPending>(&database, open, "NULL", "NULL");
        let subscriber = plan::<ListBySubscriber>(&database, EVERY_STATE, "'0517'", "NULL");
        let both = plan::<ListBySubscriber>(&database, EVERY_STATE, "'05502'", "'R2002'");
        let reference = plan::<ListByReference>(&database, EVERY_STATE, "NULL", "'R2002'");
        let misused = plan::<ListByReference>(&database, EVERY_STATE, "NULL", "'same'");
        for (plan, index, pages_max) in [
            (by_time, "purchases_by_created_at", 80),
            (failed, "purchases_failed", 120),
            (pending, "purchases_one_open_per_subscriber", 60),
            (subscriber, "purchases_by_subscriber", 100),
            (both, "purchases_by_subscriber", 50),
            (reference, "purchases_by_reference", 50),
            (misused, "purchases_by_reference", 120),
        ] {
            let is_found_so = plan.contains(index) && !plan.contains("Seq Scan");
            assert!(is_found_so, "{statistics} {index}\n{plan}");
            let touched = pages_touched(&plan);
            let pages_max = if statistics == "ANALYZE" { pages_max } else { PAGES_MAX_WITHOUT_STATISTICS };
            assert!(touched <= pages_max, "{touched} pages: {statistics} {index}\n{plan}");
        }
    }
}
