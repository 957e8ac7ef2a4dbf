//! Query plans: lines that can be bought are found by indexes, however many batches have finished.

use database::{Purpose, Statement};
use local_postgres::executed_plan;
use test_kit::database::migrated;

use super::TakeLines;

/// 20,000 lines of 2,000 batches. The last batch runs, and one of its lines can be bought.
const BATCHES: &str = "
    SET session_replication_role = replica;
    INSERT INTO batches (organisation_id, client_id, user_id, access_token_id, reference, content_hash, account_id, language, currency,
        amount, lines, open_lines, status)
    SELECT 1, 1, 1, 1, 'batch ' || n, sha256('x'), 1, 'en', 'BWP', 100, 10, CASE WHEN n = 2000 THEN 1 ELSE 0 END,
        CASE WHEN n = 2000 THEN 'RUNNING' ELSE 'FINISHED' END
    FROM generate_series(1, 2000) AS n;
    INSERT INTO batch_lines (batch_id, number, product, provider_code, subscriber_identifier, beneficiary_phone_number, currency, amount,
        charges_on_top, external_reference, requester_sms, beneficiary_sms, requester_email, beneficiary_email, state, ended_at)
    SELECT b.id, n, 'ELECTRICITY', 'BPC', '04000000001', '26771234567', 'BWP', 10, false, 'line ' || n, false, false, false, false,
        CASE WHEN b.status = 'RUNNING' AND n = 10 THEN 'WAITING' ELSE 'CANCELLED' END,
        CASE WHEN b.status = 'RUNNING' AND n = 10 THEN NULL ELSE now() END
    FROM batches b CROSS JOIN generate_series(1, 10) AS n;";

#[test]
fn lines_to_buy_come_off_indexes_however_many_batches_have_finished() {
    let database = migrated();
    database.run_sql(BATCHES).unwrap();
    for prepared in ["SELECT", "ANALYZE"] {
        database.run_sql(prepared).unwrap();
        let types = "text[], bigint[], text[], bigint[], bigint[], bigint";
        let values = "'{BPC,WUC}', '{64,64}', '{BPC}', '{2}', '{1}', 60000";
        let plan = executed_plan(&database, Purpose::Money.session(), types, TakeLines::SQL, values);
        assert!(plan.contains("batches_open") && !plan.contains("Seq Scan"), "{prepared}\n{plan}");
        // Of the lines in turn, and for the update.
        assert_eq!(plan.matches("Index Scan using batch_lines_pkey").count(), 2, "{prepared}\n{plan}");
    }
}
