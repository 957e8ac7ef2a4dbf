//! Webhook endpoints as an operator sees them.

use serde_json::json;

use crate::office::TestEnv;

#[test]
fn an_operator_sees_which_endpoints_receive_nothing_since_when_and_why() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    env.creates_organisation("OTHER", "staging");
    let till = "user create till -o KGALE --full-name T --role viewer --generate-password";
    env.does(&till.split(' ').collect::<Vec<_>>());
    // The first failed for days and was switched off, the second works again, the third is deleted.
    env.sql(
        "INSERT INTO webhook_endpoints (organisation_id, url, description, event_types, include_tokens, changed_by)
         SELECT o.id, 'https://till.example/hooks/s3cret?shop=' || n, 'Till ' || n, '{}', false, u.id
         FROM organisations o JOIN users u ON u.organisation_id = o.id, generate_series(1, 3) AS n;
         UPDATE webhook_progress SET failing_since = '2026-11-15T08:00:00Z' WHERE endpoint_id = 1;
         UPDATE webhook_endpoints SET status = 'SWITCHED_OFF', status_since = '2026-11-20T08:00:00Z', switched_off_because = 'FAILING'
         WHERE id = 1;
         UPDATE webhook_endpoints SET status = 'DELETED' WHERE id = 3;
         INSERT INTO webhook_attempts (endpoint_id, transaction_no, event_id, kind, attempt, at, took_ms, http_status, no_answer) VALUES
            (1, 1, 1, 'wallet.low', 1, '2026-11-19T08:00:00Z', 3, 500, NULL),
            (1, 1, 1, 'wallet.low', 2, '2026-11-20T07:59:00Z', 3, NULL, 'TIMED_OUT'),
            (2, 1, 1, 'wallet.low', 1, '2026-11-19T08:00:00Z', 3, 500, NULL),
            (2, 1, 1, 'wallet.low', 2, '2026-11-20T07:59:00Z', 3, 204, NULL)",
    );
    let shown = env.shows(&["webhooks", "list", "-o", "KGALE"]);
    assert_eq!(shown.as_array().unwrap().len(), 2, "{shown}");
    let expected = json!({
        "id": 1, "server": "https://till.example", "description": "Till 1", "status": "SWITCHED_OFF",
        "status_since": "2026-11-20T08:00:00Z", "switched_off_because": "FAILING", "failing_since": "2026-11-15T08:00:00Z",
        "last_failure_at": "2026-11-20T07:59:00Z", "last_failure": "TIMED_OUT",
    });
    assert_eq!(shown[0], expected);
    assert_eq!(
        (&shown[1]["status"], &shown[1]["failing_since"], &shown[1]["last_failure"]),
        (&json!("ACTIVE"), &json!(null), &json!("HTTP 500"))
    );
    let table = env.types(&["webhooks", "list", "-o", "KGALE"], "").stdout;
    assert!(table.contains("SWITCHED_OFF") && !table.contains("s3cret"), "{table}");
    assert_eq!(env.shows(&["webhooks", "list", "-o", "OTHER"]), json!([]));
    let unknown = env.types(&["webhooks", "list", "-o", "NOBODY"], "");
    assert_eq!(unknown.code, 1, "{}", unknown.stderr);
}
