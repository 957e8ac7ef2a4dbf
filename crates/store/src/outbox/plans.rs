//! Query plans: messages that are owed are read from the end of an index, however many were sent.

use database::Statement;
use local_postgres::{CUSTOM_PLANS, GENERIC_PLANS, executed_plan};
use test_kit::database::migrated;

use super::ClaimMessages;

/// 500 messages that are due among 100,000 that were sent.
const MESSAGES: &str = "
    INSERT INTO outbox (purchase_id, kind, recipient, channel, written_at, due_at, attempts, sent_at)
    SELECT n, 'ISSUED', 'BENEFICIARY', 'SMS', now(), now() - n * interval '1 s', 1, CASE WHEN n % 200 <> 0 THEN now() END
    FROM generate_series(1, 100000) AS n;";

#[test]
fn what_is_owed_comes_off_an_index_however_much_was_sent() {
    let database = migrated();
    database.run_sql(MESSAGES).unwrap();
    for prepared in ["SELECT", "ANALYZE"] {
        database.run_sql(prepared).unwrap();
        for session in [CUSTOM_PLANS, GENERIC_PLANS] {
            let (types, values) = ("text, bigint, bigint, bigint", "'SMS', 16, 60000, 0");
            let plan = executed_plan(&database, session, types, ClaimMessages::SQL, values);
            let by_index = plan.contains("Index Scan using outbox_due") && plan.contains("outbox_pkey");
            assert!(by_index && !plan.contains("Seq Scan"), "{prepared} {session}\n{plan}");
        }
    }
}
