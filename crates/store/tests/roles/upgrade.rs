//! An installation whose log was written before there were hashes: the migration chains its lines, and links
//! each payment to its line.

use std::{fs, path::Path};

use back_office::CheckProgress;
use database::migrate;
use directory::{audit_head, verify_audit_log};
use test_kit::database::WORKER;

use crate::{
    env::{TestEnv, act, pula},
    installation::{Login, env},
};

/// The first migration that contains the chain.
const BOOKS: &str = "2026-11-22-000013";

/// Reverts every migration since the chain, as the owner, the latest first.
async fn is_of_the_version_before(env: &TestEnv) {
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    let mut folders: Vec<_> = fs::read_dir(migrations).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort_unstable();
    // A copy of a database belongs to the role that made it.
    env.sql(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO test_owner', current_database()); END $$",
    );
    let owner = Login::of(&env.database, "test_owner").await;
    for folder in folders.iter().rev().filter(|folder| folder.file_name().unwrap().to_str() >= Some(BOOKS)) {
        owner.runs(&fs::read_to_string(folder.join("down.sql")).unwrap()).await.unwrap();
    }
    owner.runs("DELETE FROM __diesel_schema_migrations WHERE version >= '20261122000013'").await.unwrap();
}

#[tokio::test]
async fn lines_and_payments_from_before_the_chain_are_taken_into_it() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    back_office::top_up(env.operator.database(), merchant.wallet, pula(5), act()).await.unwrap();
    let lines: u64 = env.sql("SELECT count(*) FROM audit_log").parse().unwrap();
    is_of_the_version_before(&env).await;
    migrate(&env.database.url_as("test_owner", "test_owner").into()).await.unwrap();

    let worker = env.store_as(WORKER).await;
    assert_eq!(verify_audit_log(worker.database(), None).await.unwrap().map(|whole| whole.lines), Ok(lines));
    assert_eq!(env.count("audit_log WHERE login IS NOT NULL"), 0, "their login is not known");
    let head = audit_head(worker.database()).await.unwrap();
    assert_eq!(
        back_office::check_books(&worker, &mut CheckProgress::default()).await.unwrap(),
        [],
        "each payment has its line"
    );
    assert_eq!(env.count("journal_entries WHERE audit_id IS NOT NULL"), 2);

    let operator = Login::of(&env.database, "test_operator").await;
    let next =
        "INSERT INTO audit_log (actor, action, subject, reason) VALUES ('naledi', 'test.done', 's', 'r')";
    operator.runs(next).await.unwrap();
    assert_eq!(
        verify_audit_log(worker.database(), head).await.unwrap().map(|whole| whole.lines),
        Ok(lines + 1)
    );
}
