//! Query plans of what reads the postings of wallets, in a long history: what they read follows from the stretch, and not from the history.

use local_postgres::{LocalDatabase, pages_touched};
use test_kit::database::migrated;

/// A busy wallet (3) and its commission (4), and an idle wallet (5). They were cut off at two moments, between which lie twenty entries.
const HISTORY: &str = "
SET session_replication_role = replica;
INSERT INTO accounts (house, name, currency) VALUES ('PROVIDER_PAYABLE', 'PROVIDER_PAYABLE', 'BWP'), ('FEE_INCOME', 'FEE_INCOME', 'BWP');
INSERT INTO accounts (organisation_id, name, currency, category, posted, held, created_at)
    SELECT 1, c, 'BWP', c, 0, 0, now() - interval '9 days' FROM unnest(ARRAY['CURRENT', 'COMMISSION', 'TOPUP']) AS c;
INSERT INTO journal_entries (id, kind, purchase_id, posted_at)
    SELECT n, 'SETTLE', n, now() - interval '8 days' + n * interval '3 s' FROM generate_series(1, 200000) AS n;
INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    SELECT n, m.debit, m.credit, 'BWP', 100
    FROM generate_series(1, 200000) AS n CROSS JOIN (VALUES (3, 1), (3, 2), (2, 4)) AS m (debit, credit);
INSERT INTO cutoffs (account_id, at, entry_id, balance)
    SELECT a, m.at::timestamptz, CASE WHEN a = 5 THEN 0 ELSE m.entry END, 0
    FROM generate_series(3, 5) AS a
    CROSS JOIN (VALUES ('2026-01-01', 100000), ('2026-01-02', 100020)) AS m (at, entry);
ANALYZE";

/// The executed plan of a statement, with its parameters.
fn plan(database: &LocalDatabase, mode: &str, sql: &str, types: &str, values: &str) -> String {
    let explained = database.run_sql(&format!(
        "SET plan_cache_mode = {mode}; PREPARE look ({types}) AS {sql};
         EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE look ({values})"
    ));
    explained.unwrap()
}

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
        (include_str!("accounts/balance_before.sql"), "bigint, bigint", "3, 100030".to_owned()),
        (
            include_str!("checks/check_cutoffs.sql"),
            "bigint, bigint, bigint, bigint, bigint[]",
            "3, 4, 4, 4, '{}'".to_owned(),
        ),
    ];
    for mode in ["force_custom_plan", "force_generic_plan"] {
        for (sql, types, values) in &statements {
            let plan = plan(&database, mode, sql, types, values);
            let touched = pages_touched(&plan);
            assert!(touched <= 1_000, "{mode}: {touched} pages\n{sql}\n{plan}");
        }
    }
}
