//! The audit log and the logins of an installation: the login of a line cannot be chosen, and every change to
//! the log is detected.

use std::collections::BTreeSet;

use directory::{AuditFault, AuditMark, audit_head, verify_audit_log};

use crate::{
    env::{TestEnv, act},
    installation::{Login, env},
};

fn line(columns: &str, values: &str) -> String {
    format!(
        "INSERT INTO audit_log (actor, action, subject, reason, details{columns})
         VALUES ('kagiso', 'test.done', 's', 'r', '{{\"b\": [1, null], \"a\": \"é\"}}'{values})"
    )
}

/// The number of lines of the log, or the first fault in it.
async fn verified(env: &TestEnv, kept: Option<AuditMark>) -> Result<u64, AuditFault> {
    verify_audit_log(env.operator.database(), kept).await.unwrap().map(|whole| whole.lines)
}

/// Changes the log as only a superuser can.
fn tamper(env: &TestEnv, sql: &str) {
    env.sql(&format!("SET session_replication_role = replica; {sql}"));
}

#[tokio::test]
async fn a_line_bears_the_login_that_wrote_it_and_no_other() {
    let env = env().await;
    let operator = Login::of(&env.database, "test_operator").await;
    operator.runs(&line("", "")).await.unwrap();
    operator.runs(&format!("SET ROLE vendgate_operator; {}; RESET ROLE", line("", ""))).await.unwrap();
    let note = "SELECT DISTINCT details ->> 'on_behalf_of' FROM audit_log WHERE action = 'test.done'";
    assert_eq!(env.sql(note), "kagiso", "the name that was given is only a note");
    let newest = "SELECT login, actor FROM audit_log ORDER BY id DESC LIMIT 2";
    assert_eq!(env.sql(newest), "test_operator|test_operator\ntest_operator|test_operator");
    for (column, value) in
        [("login", "'naledi'"), ("id", "5"), ("at", "now()"), ("previous_hash", "''"), ("hash", "''")]
    {
        let chosen = line(&format!(", {column}"), &format!(", {value}"));
        let said = operator.is_refused(&chosen.replace("VALUES", "OVERRIDING SYSTEM VALUE VALUES")).await;
        assert!(said.contains("permission denied"), "{column}: {said}");
    }
    for login in ["test_server", "test_worker"] {
        let said = Login::of(&env.database, login).await.is_refused(&line("", "")).await;
        assert!(said.contains("permission denied"), "{login}: {said}");
    }
    // Even the superuser cannot choose them while the trigger is there.
    env.sql(&line(", login, hash", ", 'naledi', ''").replace("VALUES", "OVERRIDING SYSTEM VALUE VALUES"));
    assert_ne!(env.sql("SELECT login FROM audit_log ORDER BY id DESC LIMIT 1"), "naledi");
    assert!(verified(&env, None).await.is_ok());
}

#[tokio::test]
async fn what_the_database_hashes_is_what_the_program_hashes_whatever_a_line_holds() {
    let env = env().await;
    let operator = Login::of(&env.database, "test_operator").await;
    let before = verified(&env, None).await.unwrap();
    for reason in ["", "é—𝄞", "a,1:b", "-", "tab\tand\nline", "it''s \\ \"quoted\""] {
        let line = line("", "").replace("'r'", &format!("'{reason}'"));
        operator.runs(&line).await.unwrap();
    }
    let numbers = line("", "").replace("[1, null]", "[1.50, 1e3, -0.0, 12345678901234567890.123]");
    operator.runs(&numbers).await.unwrap();
    assert_eq!(verified(&env, None).await, Ok(before + 7));
}

#[tokio::test]
async fn a_changed_a_removed_and_an_added_line_are_found_and_named() {
    let env = env().await;
    env.merchant_with(50_000).await;
    let head = audit_head(env.operator.database()).await.unwrap().unwrap();
    let lines = verified(&env, Some(head)).await.unwrap();
    assert!(lines >= 5, "{lines}");
    let third = "SELECT actor FROM audit_log WHERE id = 3";
    assert_eq!(env.sql(third), "test_operator");

    for column in ["actor", "login", "reason", "subject"] {
        let was = env.sql(&format!("SELECT {column} FROM audit_log WHERE id = 3"));
        tamper(&env, &format!("UPDATE audit_log SET {column} = 'nobody' WHERE id = 3"));
        assert_eq!(verified(&env, None).await, Err(AuditFault::Changed { line: 3 }), "{column}");
        tamper(&env, &format!("UPDATE audit_log SET {column} = '{was}' WHERE id = 3"));
    }
    for change in
        ["at = at + interval '1 microsecond'", "details = details || '{\"x\": 1}'", "organisation_id = 1"]
    {
        env.sql("CREATE TABLE kept AS SELECT * FROM audit_log WHERE id = 3");
        tamper(&env, &format!("UPDATE audit_log SET {change} WHERE id = 3"));
        assert_eq!(verified(&env, None).await, Err(AuditFault::Changed { line: 3 }), "{change}");
        tamper(
            &env,
            "UPDATE audit_log l SET (at, details, organisation_id) = (k.at, k.details, k.organisation_id) FROM kept k
             WHERE k.id = l.id; DROP TABLE kept",
        );
    }
    // A forger that computes the hash of the changed line again is revealed by the next line.
    tamper(
        &env,
        "UPDATE audit_log SET reason = 'another' WHERE id = 3; UPDATE audit_log l SET hash = audit_hash(l) WHERE id = 3",
    );
    assert_eq!(verified(&env, None).await, Err(AuditFault::Unlinked { line: 4 }));
}

#[tokio::test]
async fn a_line_that_was_cut_out_is_found_in_the_middle_and_at_the_end() {
    let env = env().await;
    env.merchant_with(50_000).await;
    let head = audit_head(env.operator.database()).await.unwrap().unwrap();
    env.sql("CREATE TABLE kept AS SELECT * FROM audit_log");
    tamper(&env, "DELETE FROM audit_log WHERE id = 3");
    assert_eq!(verified(&env, None).await, Err(AuditFault::Unlinked { line: 4 }));
    tamper(&env, "INSERT INTO audit_log OVERRIDING SYSTEM VALUE SELECT * FROM kept WHERE id = 3");
    assert!(verified(&env, Some(head)).await.is_ok());

    let end = format!("DELETE FROM audit_log WHERE id = {}", head.id);
    tamper(&env, &end);
    assert_eq!(verified(&env, None).await, Err(AuditFault::NotAsKept { line: head.id }), "the head remained");
    tamper(
        &env,
        "UPDATE audit_head SET (id, hash) = (SELECT id, hash FROM audit_log ORDER BY id DESC LIMIT 1)",
    );
    assert!(verified(&env, None).await.is_ok(), "only a head stored elsewhere reveals it now");
    assert_eq!(verified(&env, Some(head)).await, Err(AuditFault::NotAsKept { line: head.id }));
    // Other lines in its place do not hide it.
    env.declare(vend::Capabilities::default()).await;
    env.declare(vend::Capabilities::default()).await;
    assert!(verified(&env, None).await.is_ok());
    assert_eq!(verified(&env, Some(head)).await, Err(AuditFault::NotAsKept { line: head.id }));
}

#[tokio::test]
async fn concurrent_writers_of_the_audit_log_write_one_chain_without_gaps() {
    let env = env().await;
    let env = &env;
    env.merchant_with(50_000).await;
    let before = audit_head(env.operator.database()).await.unwrap().unwrap().id;
    let acting = (0..40).map(|number| async move {
        let login = Login::of(&env.database, "test_operator").await;
        let end = if number % 4 == 0 { "ROLLBACK" } else { "COMMIT" };
        login.runs(&format!("BEGIN; {}; SELECT pg_sleep(0.002); {end}", line("", ""))).await.unwrap();
    });
    futures_util::future::join_all(acting).await;
    let numbers = env.sql(&format!("SELECT id FROM audit_log WHERE id > {before} ORDER BY id"));
    let numbers: BTreeSet<i64> = numbers.lines().map(|id| id.parse().unwrap()).collect();
    assert_eq!(numbers, (before + 1..=before + 30).collect());
    assert!(verified(env, None).await.is_ok());
}

#[tokio::test]
async fn a_sale_does_not_wait_for_a_writer_of_the_audit_log() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    let writer = Login::of(&env.database, "test_operator").await;
    writer.runs("BEGIN").await.unwrap();
    writer.runs(&line("", "")).await.unwrap();
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.records(&order, crate::env::vended("V1", 1_000)).await;
    assert_eq!(env.balances(merchant.wallet), "48850|0");
    let other = back_office::top_up(env.operator.database(), merchant.wallet, crate::env::pula(5), act());
    let waits = tokio::time::timeout(std::time::Duration::from_millis(200), other).await;
    assert!(waits.is_err(), "two lines are written one after the other");
    writer.runs("COMMIT").await.unwrap();
}
