//! The sealed token of a purchase, in SQL: a reader gets it after the line of the audit log is committed, and not before.

use crate::{
    env::{TestEnv, vended},
    installation::{Login, env},
};

const READERS: &str = "
    DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'test_reader') THEN
            CREATE ROLE test_reader LOGIN PASSWORD 'test_reader' IN ROLE vendgate_support, vendgate_token_reader;
            CREATE ROLE test_other_reader LOGIN PASSWORD 'test_other_reader' IN ROLE vendgate_support, vendgate_token_reader;
        END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$";

/// An environment with one sold purchase, and the statement that asks for its token.
async fn sold() -> (TestEnv, String) {
    let env = env().await;
    env.sql(READERS);
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.records(&order, vended("R-1", 1_000)).await;
    let ask = format!("SELECT showing FROM ask_for_token({}, 200, 'kagiso', 'lost the SMS')", order.id.0);
    (env, ask)
}

fn take(showing: &str) -> String {
    format!("SELECT purchase, token_key_id, sealed_token FROM take_token({showing})")
}

#[tokio::test]
async fn the_database_gives_a_token_only_after_its_line_is_committed() {
    let (env, ask) = sold().await;
    let shown = "audit_log WHERE action = 'token.shown'";
    let reader = Login::of(&env.database, "test_reader").await;
    for at_once in [
        format!("BEGIN; {ask}; {}", take("1")),
        format!("BEGIN; SAVEPOINT a; {ask}; RELEASE a; {}", take("1")),
        format!("SELECT (take_token(showing)).* FROM ({ask}) AS asked"),
    ] {
        let said = reader.is_refused(&at_once).await;
        assert!(said.contains("tokens_are_shown_after_their_line"), "{at_once}: {said}");
        reader.runs("ROLLBACK").await.unwrap();
        assert_eq!(env.count(shown), 0, "{at_once}");
        env.sql("ALTER TABLE token_showings ALTER COLUMN id RESTART WITH 1");
    }
    let showing = reader.runs(&ask).await.unwrap()[0][0].clone();
    assert_eq!(env.count(shown), 1);
    let taken = reader.runs(&take(&showing)).await.unwrap();
    assert_eq!(taken[0][2], env.sql("SELECT sealed_token FROM purchases"));

    let other = Login::of(&env.database, "test_other_reader").await;
    let said = other.is_refused(&take(&showing)).await;
    assert!(said.contains("tokens_are_shown_after_their_line"), "of another person: {said}");
    env.sql("UPDATE token_showings SET at = at - interval '1 minute'");
    let said = reader.is_refused(&take(&showing)).await;
    assert!(said.contains("tokens_are_shown_after_their_line"), "a minute later: {said}");
}

#[tokio::test]
async fn a_reader_has_no_other_way_to_a_token_and_the_role_gives_nothing_else() {
    let (env, ask) = sold().await;
    for login in
        ["test_server", "test_worker", "test_operator", "test_support", "test_finance", "test_administrator"]
    {
        let said = Login::of(&env.database, login).await.is_refused(&ask).await;
        assert!(said.contains("permission denied for function ask_for_token"), "{login}: {said}");
    }
    let reader = Login::of(&env.database, "test_reader").await;
    for read in [
        "SELECT sealed_token FROM purchases",
        "SELECT p FROM purchases p",
        "SELECT sealed_token FROM incidents",
        "SELECT sealed_token FROM unmatched_vends",
        "SELECT sealed_token FROM approval_requests",
        "SELECT sealed_reply FROM provider_replies",
        "SELECT FROM token_showings",
    ] {
        assert!(reader.is_refused(read).await.contains("permission denied"), "{read}");
    }
    let rights =
        "SELECT count(*) FROM information_schema.table_privileges WHERE grantee = 'vendgate_token_reader'";
    assert_eq!(env.sql(rights), "0");
    let functions = "SELECT string_agg(DISTINCT routine_name, ' ' ORDER BY routine_name) FROM information_schema.routine_privileges
                     WHERE grantee = 'vendgate_token_reader'";
    assert_eq!(env.sql(functions), "ask_for_token take_token");
}

#[tokio::test]
async fn the_database_itself_shows_a_person_at_most_a_hundred_tokens_a_day() {
    let (env, ask) = sold().await;
    let reader = Login::of(&env.database, "test_reader").await;
    let asked =
        ask.replacen("SELECT showing FROM", "SELECT count(a.showing) FROM generate_series(1, 101) AS n,", 1);
    let asked = asked.replace(", 200,", ", 200 + 0 * n,") + " AS a";
    assert_eq!(reader.runs(&asked).await.unwrap()[0][0], "100");
    assert_eq!(env.count("audit_log WHERE action = 'token.shown'"), 100);
}
