//! The audit log by the logins of an installation: whose line it is cannot be chosen, and what was done to the log shows.

use std::collections::BTreeSet;

use store::identity::{AuditFault, AuditMark, audit_head, verify_audit_log};

use crate::installation::{Login, town};
use crate::town::{Town, act};

fn line(columns: &str, values: &str) -> String {
    format!(
        "INSERT INTO audit_log (actor, action, subject, reason, details{columns})
         VALUES ('kagiso', 'test.done', 's', 'r', '{{\"b\": [1, null], \"a\": \"é\"}}'{values})"
    )
}

/// What the log says about itself.
async fn verified(town: &Town, kept: Option<AuditMark>) -> Result<u64, AuditFault> {
    verify_audit_log(&town.operator, kept).await.unwrap().map(|whole| whole.lines)
}

/// Changes the log as only a superuser can.
fn tamper(town: &Town, sql: &str) {
    town.sql(&format!("SET session_replication_role = replica; {sql}"));
}

#[tokio::test]
async fn a_line_bears_the_login_that_wrote_it_and_no_other() {
    let town = town().await;
    let operator = Login::of(&town.database, "test_operator").await;
    operator.runs(&line("", "")).await.unwrap();
    operator.runs(&format!("SET ROLE vendgate_operator; {}; RESET ROLE", line("", ""))).await.unwrap();
    let newest = "SELECT login, actor FROM audit_log ORDER BY id DESC LIMIT 2";
    assert_eq!(town.sql(newest), "test_operator|kagiso\ntest_operator|kagiso");
    for (column, value) in
        [("login", "'naledi'"), ("id", "5"), ("at", "now()"), ("previous_hash", "''"), ("hash", "''")]
    {
        let chosen = line(&format!(", {column}"), &format!(", {value}"));
        let said = operator.is_refused(&chosen.replace("VALUES", "OVERRIDING SYSTEM VALUE VALUES")).await;
        assert!(said.contains("permission denied"), "{column}: {said}");
    }
    for login in ["test_server", "test_worker"] {
        let said = Login::of(&town.database, login).await.is_refused(&line("", "")).await;
        assert!(said.contains("permission denied"), "{login}: {said}");
    }
    // Not even the superuser chooses, while the trigger is there.
    town.sql(&line(", login, hash", ", 'naledi', ''").replace("VALUES", "OVERRIDING SYSTEM VALUE VALUES"));
    assert_ne!(town.sql("SELECT login FROM audit_log ORDER BY id DESC LIMIT 1"), "naledi");
    assert!(verified(&town, None).await.is_ok());
}

#[tokio::test]
async fn what_the_database_hashes_is_what_the_program_hashes_whatever_a_line_holds() {
    let town = town().await;
    let operator = Login::of(&town.database, "test_operator").await;
    let before = verified(&town, None).await.unwrap();
    for reason in ["", "é—𝄞", "a,1:b", "-", "tab\tand\nline", "it''s \\ \"quoted\""] {
        let line = line("", "").replace("'r'", &format!("'{reason}'"));
        operator.runs(&line).await.unwrap();
    }
    let numbers = line("", "").replace("[1, null]", "[1.50, 1e3, -0.0, 12345678901234567890.123]");
    operator.runs(&numbers).await.unwrap();
    assert_eq!(verified(&town, None).await, Ok(before + 7));
}

#[tokio::test]
async fn a_changed_a_removed_and_an_added_line_are_found_and_named() {
    let town = town().await;
    town.shop_with(50_000).await;
    let head = audit_head(&town.operator).await.unwrap().unwrap();
    let lines = verified(&town, Some(head)).await.unwrap();
    assert!(lines >= 5, "{lines}");
    let third = "SELECT actor FROM audit_log WHERE id = 3";
    assert_eq!(town.sql(third), "naledi");

    for column in ["actor", "login", "reason", "subject"] {
        let was = town.sql(&format!("SELECT {column} FROM audit_log WHERE id = 3"));
        tamper(&town, &format!("UPDATE audit_log SET {column} = 'nobody' WHERE id = 3"));
        assert_eq!(verified(&town, None).await, Err(AuditFault::Changed { line: 3 }), "{column}");
        tamper(&town, &format!("UPDATE audit_log SET {column} = '{was}' WHERE id = 3"));
    }
    for change in
        ["at = at + interval '1 microsecond'", "details = details || '{\"x\": 1}'", "organisation_id = 1"]
    {
        town.sql("CREATE TABLE kept AS SELECT * FROM audit_log WHERE id = 3");
        tamper(&town, &format!("UPDATE audit_log SET {change} WHERE id = 3"));
        assert_eq!(verified(&town, None).await, Err(AuditFault::Changed { line: 3 }), "{change}");
        tamper(
            &town,
            "UPDATE audit_log l SET (at, details, organisation_id) = (k.at, k.details, k.organisation_id) FROM kept k
             WHERE k.id = l.id; DROP TABLE kept",
        );
    }
    // Whoever hashes his change anew is betrayed by the next line.
    tamper(
        &town,
        "UPDATE audit_log SET reason = 'another' WHERE id = 3; UPDATE audit_log l SET hash = audit_hash(l) WHERE id = 3",
    );
    assert_eq!(verified(&town, None).await, Err(AuditFault::Unlinked { line: 4 }));
}

#[tokio::test]
async fn a_line_that_was_cut_out_is_found_in_the_middle_and_at_the_end() {
    let town = town().await;
    town.shop_with(50_000).await;
    let head = audit_head(&town.operator).await.unwrap().unwrap();
    town.sql("CREATE TABLE kept AS SELECT * FROM audit_log");
    tamper(&town, "DELETE FROM audit_log WHERE id = 3");
    assert_eq!(verified(&town, None).await, Err(AuditFault::Unlinked { line: 4 }));
    tamper(&town, "INSERT INTO audit_log OVERRIDING SYSTEM VALUE SELECT * FROM kept WHERE id = 3");
    assert!(verified(&town, Some(head)).await.is_ok());

    let end = format!("DELETE FROM audit_log WHERE id = {}", head.id);
    tamper(&town, &end);
    assert_eq!(
        verified(&town, None).await,
        Err(AuditFault::NotAsKept { line: head.id }),
        "the head was left"
    );
    tamper(
        &town,
        "UPDATE audit_head SET (id, hash) = (SELECT id, hash FROM audit_log ORDER BY id DESC LIMIT 1)",
    );
    assert!(verified(&town, None).await.is_ok(), "only a head that was kept elsewhere tells now");
    assert_eq!(verified(&town, Some(head)).await, Err(AuditFault::NotAsKept { line: head.id }));
    // Other lines in its place do not help.
    town.declare(vend::Capabilities::default()).await;
    town.declare(vend::Capabilities::default()).await;
    assert!(verified(&town, None).await.is_ok());
    assert_eq!(verified(&town, Some(head)).await, Err(AuditFault::NotAsKept { line: head.id }));
}

#[tokio::test]
async fn people_who_act_at_once_write_one_chain_without_gaps() {
    let town = town().await;
    let town = &town;
    town.shop_with(50_000).await;
    let before = audit_head(&town.operator).await.unwrap().unwrap().id;
    let acting = (0..40).map(|number| async move {
        let login = Login::of(&town.database, "test_operator").await;
        let end = if number % 4 == 0 { "ROLLBACK" } else { "COMMIT" };
        login.runs(&format!("BEGIN; {}; SELECT pg_sleep(0.002); {end}", line("", ""))).await.unwrap();
    });
    futures_util::future::join_all(acting).await;
    let numbers = town.sql(&format!("SELECT id FROM audit_log WHERE id > {before} ORDER BY id"));
    let numbers: BTreeSet<i64> = numbers.lines().map(|id| id.parse().unwrap()).collect();
    assert_eq!(numbers, (before + 1..=before + 30).collect());
    assert!(verified(town, None).await.is_ok());
}

#[tokio::test]
async fn whoever_sells_waits_for_nobody_who_writes_the_log() {
    let town = town().await;
    let shop = town.shop_with(50_000).await;
    let writer = Login::of(&town.database, "test_operator").await;
    writer.runs("BEGIN").await.unwrap();
    writer.runs(&line("", "")).await.unwrap();
    let (order, _) = town.reserved(&shop, "04257670465", 1_000).await;
    town.records(&order, crate::town::vended("V1", 1_000)).await;
    assert_eq!(town.balances(shop.wallet), "48850|0");
    let other = town.operator.top_up(shop.wallet, crate::town::pula(5), act());
    let waits = tokio::time::timeout(std::time::Duration::from_millis(200), other).await;
    assert!(waits.is_err(), "two lines are written one after the other");
    writer.runs("COMMIT").await.unwrap();
}
