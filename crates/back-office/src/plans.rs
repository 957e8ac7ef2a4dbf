//! Query plans of what reads the postings of wallets, in a long history: what they read follows from the stretch, and not from the history.

use local_postgres::{CUSTOM_PLANS, GENERIC_PLANS, executed_plan, pages_touched};
use test_kit::database::migrated;

/// A busy wallet (3) and its commission (4), and idle wallets. They were cut off at two moments, between which lie twenty
/// entries, and at the end.
const HISTORY: &str = include_str!("../../store/src/statement/history.sql");

#[test]
fn what_adds_up_a_day_of_wallets_reads_the_day_and_not_the_history() {
    let database = migrated();
    database.run_sql(HISTORY).unwrap();
    let day = "'2026-01-01', '2026-01-02'";
    let statements = [
        ("SELECT * FROM sums_of_wallets($1, $2)", "timestamptz, timestamptz", day.to_owned()),
        (
            include_str!("checks/walk_trial_balance.sql"),
            "timestamptz, timestamptz, bigint, timestamptz, bigint",
            "'2026-01-02', '2026-01-01', 0, '-infinity', 25".to_owned(),
        ),
        (
            include_str!("accounts/list_postings.sql"),
            "bigint, bigint, bigint",
            "5, 9223372036854775807, 20".to_owned(),
        ),
        (include_str!("accounts/balance_before.sql"), "bigint, bigint", "3, 20030".to_owned()),
        (
            include_str!("checks/check_cutoffs.sql"),
            "bigint, bigint, bigint, bigint, bigint[]",
            "1, 2, 2, 2, '{}'".to_owned(),
        ),
    ];
    for session in [CUSTOM_PLANS, GENERIC_PLANS] {
        for (sql, types, values) in &statements {
            let plan = executed_plan(&database, session, types, sql, values);
            let touched = pages_touched(&plan);
            assert!(touched <= 1_000, "{session}: {touched} pages\n{sql}\n{plan}");
        }
    }
}

/// A time with few events, and then many. 2,000 of 48,000 purchases are looked at.
#[test]
fn the_event_of_each_purchase_is_looked_up_whatever_the_statistics_say() {
    let database = migrated();
    database.run_sql(include_str!("../../store/src/listing/history.sql")).unwrap();
    let tell = |which: &str| {
        format!(
            "INSERT INTO feed_events (organisation_id, transaction_no, kind, at, purchase_id)
             SELECT organisation_id, 1, 'purchase.succeeded', now(), id FROM purchases WHERE state = 'SUCCESSFUL' AND {which}"
        )
    };
    let few_and_then_all = format!(
        "ALTER TABLE feed_events SET (autovacuum_enabled = off); SET session_replication_role = replica;
         {}; ANALYZE; {}",
        tell("id <= 40"),
        tell("id > 40")
    );
    database.run_sql(&few_and_then_all).unwrap();
    for session in [CUSTOM_PLANS, GENERIC_PLANS] {
        let read = include_str!("checks/read_untold.sql");
        let plan =
            executed_plan(&database, session, "bigint, bigint, bigint[]", read, "100000, 110000, '{}'");
        let is_looked_up = plan.contains("Index Cond: (purchase_id = p.id)");
        assert!(is_looked_up && !plan.contains("Join Filter"), "{session}\n{plan}");
    }
}
