//! The schema from outside: how it is installed in a database, and what it refuses.

use std::{fs, path::Path};

use database::{Database, DatabaseError, DatabaseSettings, Purpose, migrate, schema_version};
use local_postgres::{LocalDatabase, LocalPostgres, LocalPostgresError};
use test_kit::{database::migrated, waiting::until};
use tokio::runtime::Handle;

/// A newer version than any that this program knows.
const TOMORROW: &str = "99991231000000";

fn empty(name: &str) -> LocalDatabase {
    LocalPostgres::shared().create_database(name).unwrap()
}

async fn connect(database: &LocalDatabase) -> Result<Database, DatabaseError> {
    connect_at(database.url()).await
}

async fn connect_at(url: String) -> Result<Database, DatabaseError> {
    Database::connect(DatabaseSettings::for_database(url), Purpose::General, Handle::current()).await
}

/// What Postgres says when the servers' role runs `sql`.
fn refusal_to_servers(database: &LocalDatabase, sql: &str) -> String {
    let outcome = database.run_sql(&format!("SET ROLE vendgate_api; {sql}"));
    match outcome {
        Ok(rows) => format!("allowed: {rows}"),
        Err(LocalPostgresError::ProgramFailed { said, .. }) => said,
        Err(other) => other.to_string(),
    }
}

#[tokio::test]
async fn an_empty_database_is_migrated_once_however_often_that_is_asked_for() {
    let database = empty("empty_then_migrated");
    let url = database.url().into();
    let (one, other) = tokio::join!(migrate(&url), migrate(&url));
    let mut applied = [one.unwrap(), other.unwrap()];
    applied.sort_unstable();
    assert!(applied[0].is_empty(), "{applied:?}");
    assert_eq!(applied[1].last(), Some(&schema_version()));
    assert_eq!(migrate(&url).await.unwrap(), Vec::<String>::new());
    connect(&database).await.unwrap();
}

#[tokio::test]
async fn an_owner_that_is_no_superuser_and_may_not_make_roles_can_migrate() {
    migrated();
    let database = empty("owned_plainly");
    let name = database.name();
    let owner =
        format!("CREATE ROLE plain_owner LOGIN PASSWORD 'plain'; ALTER DATABASE {name} OWNER TO plain_owner");
    database.run_sql(&owner).unwrap();
    let applied = migrate(&database.url_as("plain_owner", "plain").into()).await.unwrap();
    assert_eq!(applied.last(), Some(&schema_version()));

    database.run_sql("CREATE ROLE plain_server LOGIN PASSWORD 'plain' IN ROLE vendgate_api").unwrap();
    let server = connect_at(database.url_as("plain_server", "plain")).await.unwrap();
    server.refuse_powerful_role().await.unwrap();
    let owner = connect_at(database.url_as("plain_owner", "plain")).await.unwrap();
    let refused = owner.refuse_powerful_role().await.unwrap_err();
    assert!(refused.to_string().contains("plain_owner"), "{refused}");
}

#[tokio::test]
async fn every_migration_can_be_taken_back_and_applied_again() {
    let database = migrated();
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    let mut folders: Vec<_> = fs::read_dir(migrations).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort_unstable();
    for folder in folders.iter().rev() {
        database.run_sql(&fs::read_to_string(folder.join("down.sql")).unwrap()).unwrap();
    }
    let left = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(database.run_sql(left).unwrap(), "1", "only diesel's own table is left");
    database.run_sql("DELETE FROM __diesel_schema_migrations").unwrap();
    assert_eq!(migrate(&database.url().into()).await.unwrap().len(), folders.len());
}

/// How many statements wait for a table of this database.
const WAITS: &str = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation'
                         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// Takes the newest migration back, so that `migrate` has something to apply. Returns its version.
fn take_newest_back(database: &LocalDatabase) -> String {
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    let newest = fs::read_dir(migrations).unwrap().map(|entry| entry.unwrap().path()).max().unwrap();
    database.run_sql(&fs::read_to_string(newest.join("down.sql")).unwrap()).unwrap();
    let forget = format!(
        "DELETE FROM __diesel_schema_migrations WHERE version = '{}' RETURNING version",
        schema_version()
    );
    database.run_sql(&forget).unwrap()
}

#[tokio::test]
async fn a_migration_gives_way_to_sales_and_is_applied_when_its_table_is_free() {
    let database = migrated();
    let holder = connect(&database).await.unwrap();
    let newest = take_newest_back(&database);
    let holder = holder.begin().await.unwrap();
    holder.batch_execute("LOCK __diesel_schema_migrations IN EXCLUSIVE MODE").await.unwrap();
    let url = database.url().into();
    let migrating = tokio::spawn(async move { migrate(&url).await });

    until("the migration waits", || database.run_sql(WAITS).unwrap() != "0").await;
    until("it gives way", || database.run_sql(WAITS).unwrap() == "0").await;
    until("it tries again", || database.run_sql(WAITS).unwrap() != "0").await;
    holder.roll_back().await;
    assert_eq!(migrating.await.unwrap().unwrap(), [newest]);
}

#[tokio::test]
async fn programs_that_a_migration_would_break_are_named_and_the_migration_is_refused() {
    let database = migrated();
    let older = "SELECT pg_advisory_lock_shared((x'7667'::bigint << 48) | 20261123000015)";
    let contract = format!("SELECT end_programs_before('{}')", schema_version());
    let program = connect(&database).await.unwrap();
    database.run_sql(&contract).expect("the programs that are connected know the schema");

    let connection = program.begin().await.unwrap();
    connection.batch_execute(older).await.unwrap();
    let refused = database.run_sql(&contract).unwrap_err().to_string();
    assert!(refused.contains("programs of a schema before"), "{refused}");
    assert!(refused.contains("vendgate (login"), "{refused}");
    assert!(refused.contains("schema 20261123000015"), "{refused}");
}

#[tokio::test]
async fn a_session_that_opens_during_a_contracting_migration_waits_for_it_and_is_refused() {
    let database = migrated();
    let program = connect(&database).await.unwrap();
    let migrating = program.begin().await.unwrap();
    let contract = format!(
        "LOCK TABLE served_programs IN ACCESS EXCLUSIVE MODE;
         UPDATE served_programs SET oldest_schema = '{TOMORROW}'"
    );
    migrating.batch_execute(&contract).await.unwrap();
    let url = database.url();
    let opening = tokio::spawn(async move { connect_at(url).await });
    until("the session waits", || database.run_sql(WAITS).unwrap() != "0").await;
    migrating.commit().await.unwrap();
    let refused = opening.await.unwrap().unwrap_err();
    assert!(matches!(refused, DatabaseError::ProgramTooOld { .. }), "{refused:?}");
}

/// Purchases of the earlier schema: one whose sender is at work, one in doubt, one that has ended.
const PURCHASES_OF_OLD: &str = "
    INSERT INTO purchases (id, reference, organisation_id, client_id, user_id, account_id, source_channel, language,
        product, provider_code, subscriber_identifier, beneficiary_phone_number, currency, entry, charge, net, total,
        commission, requester_sms, beneficiary_sms, requester_email, beneficiary_email, created_at, state, handling,
        fence, lease_until, attempt, requests, window_closes_at, copies, last_sent_at, provider_reference, ended_at,
        failure)
    SELECT n, 'TOP', 1, 1, 1, 1, 'WEB', 'en', 'ELECTRICITY', 'BPC', '05' || n, '26771234567', 'BWP', 100, 0, 100, 100,
        0, true, true, true, true, now(), (ARRAY ['IN_FLIGHT', 'IN_DOUBT', 'FAILED'])[n], 'SELF_MANAGED', 1,
        CASE WHEN n = 1 THEN timestamptz '2027-01-01Z' END, 1, 0, now(), CASE WHEN n < 3 THEN 1 END,
        CASE WHEN n < 3 THEN now() END, '000001', CASE WHEN n = 3 THEN now() END, CASE WHEN n = 3 THEN 'OPERATOR' END
    FROM generate_series(1, 3) AS n;";

#[tokio::test]
async fn open_purchases_survive_the_migration_that_tells_when_they_are_due() {
    let database = migrated();
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    let mut folders: Vec<_> = fs::read_dir(migrations).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort_unstable();
    let since =
        folders.iter().filter(|folder| folder.file_name().unwrap().to_str() >= Some("2026-11-20-000007"));
    for folder in since.rev() {
        database.run_sql(&fs::read_to_string(folder.join("down.sql")).unwrap()).unwrap();
    }
    database.run_sql("DELETE FROM __diesel_schema_migrations WHERE version >= '20261120000007'").unwrap();
    database.run_sql(PURCHASES_OF_OLD).unwrap();
    let applied = migrate(&database.url().into()).await.unwrap();
    assert_eq!(applied.first().map(String::as_str), Some("20261120000007"));
    let due = "SELECT state, due_at = lease_until, due_at <= now() FROM purchases ORDER BY id";
    assert_eq!(database.run_sql(due).unwrap(), "IN_FLIGHT|t|f\nIN_DOUBT||t\nFAILED||");
}

#[test]
fn the_worker_is_a_member_of_the_servers_even_if_its_role_was_made_beforehand() {
    let database = migrated();
    let member = "SELECT pg_has_role('vendgate_worker', 'vendgate_api', 'MEMBER')";
    assert_eq!(database.run_sql(member).unwrap(), "t");
    let up = include_str!("../../../../migrations/2026-11-20-000007_worker/up.sql");
    let (roles, _tables) = up.split_once("ALTER TABLE").unwrap();
    let lone = roles.replace("vendgate_worker", "lone_worker");
    database.run_sql(&format!("CREATE ROLE lone_worker; {lone} {lone}")).unwrap();
    assert_eq!(database.run_sql(&member.replace("vendgate_worker", "lone_worker")).unwrap(), "t");
    database.run_sql("DROP ROLE lone_worker").unwrap();
}

#[tokio::test]
async fn a_program_serves_later_schemas_until_one_ends_it_and_no_earlier_one() {
    let database = empty("never_migrated");
    let none = connect(&database).await.unwrap_err();
    assert!(matches!(&none, DatabaseError::Schema { found, .. } if found == "none"), "{none:?}");

    let database = migrated();
    database.run_sql(&format!("INSERT INTO __diesel_schema_migrations VALUES ('{TOMORROW}')")).unwrap();
    connect(&database).await.unwrap();
    assert_eq!(migrate(&database.url().into()).await.unwrap(), Vec::<String>::new());
    database.run_sql(&format!("UPDATE served_programs SET oldest_schema = '{TOMORROW}'")).unwrap();
    let ended = connect(&database).await.unwrap_err();
    assert!(matches!(ended, DatabaseError::ProgramTooOld { .. }), "{ended:?}");
    assert!(matches!(migrate(&database.url().into()).await, Err(DatabaseError::ProgramTooOld { .. })));

    let database = migrated();
    take_newest_back(&database);
    let newest_left = database.run_sql("SELECT max(version) FROM __diesel_schema_migrations").unwrap();
    let earlier = connect(&database).await.unwrap_err();
    assert!(matches!(&earlier, DatabaseError::Schema { found, .. } if *found == newest_left), "{earlier:?}");
}

#[test]
fn the_servers_cannot_rewrite_what_was_recorded_nor_change_the_schema() {
    let database = migrated();
    for forbidden in [
        "UPDATE audit_log SET actor = 'nobody'",
        "DELETE FROM audit_log",
        "TRUNCATE audit_log",
        "ALTER TABLE audit_log DISABLE TRIGGER ALL",
        "DROP TABLE audit_log",
        "DELETE FROM token_families",
        "UPDATE token_families SET user_id = 1",
        "UPDATE token_families SET expires_at = now()",
        "UPDATE access_tokens SET expires_at = now()",
        "DELETE FROM access_tokens",
        "DELETE FROM refresh_tokens",
        "UPDATE refresh_tokens SET expires_at = now()",
        "INSERT INTO organisations (code, name, environment) VALUES ('X', 'X', 'STAGING')",
        "UPDATE organisations SET status = 'ACTIVE'",
        "UPDATE users SET password_hash = ''",
        "UPDATE client_secrets SET revoked_at = NULL",
        "INSERT INTO __diesel_schema_migrations VALUES ('1')",
        "CREATE TABLE theirs (id int)",
    ] {
        let said = refusal_to_servers(&database, forbidden);
        assert!(said.contains("permission denied") || said.contains("must be owner"), "{forbidden}: {said}");
    }
}

#[test]
fn the_servers_may_lock_the_rows_behind_a_login_and_change_nothing() {
    let database = migrated();
    for table in ["organisations", "oauth_clients", "client_secrets", "users"] {
        database.run_sql(&format!("SET ROLE vendgate_api; SELECT FROM {table} FOR SHARE")).unwrap();
        let renumbered = refusal_to_servers(&database, &format!("UPDATE {table} SET id = DEFAULT"));
        assert!(renumbered.contains(&format!("the numbers of {table} are for ever")), "{renumbered}");
        let chosen = refusal_to_servers(&database, &format!("UPDATE {table} SET id = 1"));
        assert!(chosen.contains("can only be updated to DEFAULT"), "{chosen}");
        let created = refusal_to_servers(&database, &format!("UPDATE {table} SET created_at = now()"));
        assert!(created.contains("permission denied"), "{created}");
    }
}

#[test]
fn not_even_the_owner_rewrites_the_audit_log_by_accident() {
    let database = migrated();
    let entry = "INSERT INTO audit_log (actor, action, subject, reason) VALUES ('a', 'test.done', 's', 'r')";
    database.run_sql(entry).unwrap();
    for forbidden in ["UPDATE audit_log SET actor = 'b'", "DELETE FROM audit_log", "TRUNCATE audit_log"] {
        let refused = database.run_sql(forbidden).unwrap_err().to_string();
        let kept = database.run_sql("SELECT actor FROM audit_log").unwrap();
        assert_eq!(kept, "postgres", "{forbidden}: {refused}");
    }
}

#[test]
fn every_foreign_key_of_identity_is_indexed() {
    let database = migrated();
    let bare = "SELECT c.conrelid::regclass || ' ' || c.conname FROM pg_constraint c
                WHERE c.contype = 'f' AND c.conrelid::regclass::text IN ('oauth_clients', 'client_secrets',
                    'users', 'token_families', 'access_tokens', 'refresh_tokens', 'audit_log')
                AND NOT EXISTS (
                    SELECT FROM pg_index i WHERE i.indrelid = c.conrelid
                    AND (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey)";
    assert_eq!(database.run_sql(bare).unwrap(), "");
}
