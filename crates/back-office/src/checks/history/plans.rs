//! Query plans of the checks of entries in a long history: what they read follows from the stretch, and not from the history. The
//! worker runs each of them for months, so its statements get generic plans.

use database::Statement;
use local_postgres::{CUSTOM_PLANS, GENERIC_PLANS, LocalDatabase, executed_plan, pages_touched};
use test_kit::database::migrated;

use super::{
    CheckEntries, CheckIncidents, CheckPayments, CheckPayouts, CheckSettlements, CheckUnmatchedVends,
};

/// With a shorter history the planner would be right to read all of it.
const HISTORY: &str = "
SET session_replication_role = replica;
INSERT INTO accounts (house, name, currency) VALUES ('SUSPENSE', 'SUSPENSE', 'BWP'), ('FUNDING', 'FUNDING', 'BWP');
INSERT INTO journal_entries (id, kind, purchase_id, posted_at) SELECT n, 'SETTLE', n, now() FROM generate_series(1, 200000) AS n;
INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    SELECT n, 1, 2, 'BWP', 100 FROM generate_series(1, 200000) AS n, generate_series(1, 3);
ANALYZE";

/// The executed plan for twenty new entries and twenty old ones.
fn plan<S: Statement>(database: &LocalDatabase, session: &str) -> String {
    let (types, values) =
        ("bigint, bigint, bigint, bigint, bigint[]", "199980, 200000, 100000, 100020, '{}'");
    executed_plan(database, session, types, S::SQL, values)
}

#[test]
fn a_look_at_entries_reads_its_stretch_and_not_the_history() {
    let database = migrated();
    database.run_sql(HISTORY).unwrap();
    for session in [CUSTOM_PLANS, GENERIC_PLANS] {
        for plan in [
            plan::<CheckEntries>(&database, session),
            plan::<CheckSettlements>(&database, session),
            plan::<CheckIncidents>(&database, session),
            plan::<CheckUnmatchedVends>(&database, session),
            plan::<CheckPayments>(&database, session),
            plan::<CheckPayouts>(&database, session),
        ] {
            let touched = pages_touched(&plan);
            assert!(touched <= 400, "{session}: {touched} pages\n{plan}");
        }
    }
}
