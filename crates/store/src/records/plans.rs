//! Query plans: a retry finds its purchase by an index, however long the history of its subscriber is, and however many purchases have its
//! reference.

use database::{Purpose, Statement};
use local_postgres::{executed_plan, pages_touched};
use test_kit::database::migrated;

use super::FindNewest;
use crate::{closings::CloseReferences, listing::plans::HISTORY};

/// The organisation has one subscriber that bought 6,000 times, each time under a reference of its own.
const ONE_SUBSCRIBER: &str = "SET session_replication_role = replica;
    UPDATE purchases SET subscriber_identifier = '0499'
    WHERE organisation_id = 1 AND external_reference LIKE 'R%' AND id % 40 = 21";

/// A first call of `pseudonym` reads most of them, in the catalogue.
const PAGES_MAX: u32 = 120;

#[test]
fn a_retry_reads_the_purchases_of_its_subscriber_and_reference_only() {
    let database = migrated();
    database.run_sql(HISTORY).unwrap();
    database.run_sql(ONE_SUBSCRIBER).unwrap();
    for statistics in ["SELECT", "ANALYZE"] {
        database.run_sql(statistics).unwrap();
        for (subscriber, reference) in
            [("0499", "R4002"), ("0499", "never"), ("0517", "same"), ("05502", "R2002")]
        {
            let (types, values) =
                ("bigint, text, text, text", format!("1, '{subscriber}', '{reference}', NULL"));
            let find = executed_plan(&database, Purpose::Requests.session(), types, FindNewest::SQL, &values);
            let types = "bigint, text[], text[], text[], bigint[], bigint[]";
            let values = format!("1, '{{{subscriber}}}', '{{{reference}}}', '{{NULL}}', '{{NULL}}', '{{1}}'");
            let close =
                executed_plan(&database, Purpose::Money.session(), types, CloseReferences::SQL, &values);
            for plan in [find, close] {
                let is_found_so =
                    plan.contains("purchases_by_subscriber") && !plan.contains("Seq Scan on purchases");
                assert!(is_found_so, "{statistics}: {subscriber} {reference}\n{plan}");
                assert!(pages_touched(&plan) <= PAGES_MAX, "{statistics}: {subscriber} {reference}\n{plan}");
            }
        }
    }
}
