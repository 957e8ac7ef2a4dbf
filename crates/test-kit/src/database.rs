//! A migrated database of its own for each test, and the logins of the programs.

use database::{DatabaseError, DatabaseSettings, MIGRATIONS_DIGEST, migrate};
use local_postgres::{LocalDatabase, LocalPostgres};
use tokio::runtime::Builder;

/// The login of a server.
pub const SERVER: &str = "test_server";
/// The login of a worker.
pub const WORKER: &str = "test_worker";
/// The login of an operator.
pub const OPERATOR: &str = "test_operator";

/// A migrated database for one test, on the server that all tests of this process share. It is copied for each test from one
/// that is kept in the build directory until a migration changes.
pub fn migrated() -> LocalDatabase {
    const TEMPLATE: &str = "migrated";
    let postgres = LocalPostgres::shared_with_template(TEMPLATE, MIGRATIONS_DIGEST, prepare);
    postgres.database_from_template(TEMPLATE, prepare).expect("a test needs its database")
}

/// Migrates the empty database at `url`, which is to become a template. It must run on a thread without a runtime.
///
/// # Errors
/// If the database cannot be migrated.
pub fn prepare(url: &str) -> Result<(), DatabaseError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(DatabaseError::unavailable)?.block_on(migrate(&url.into())).map(drop)
}

/// Creates the three logins, each with the role of its program. The password of each login is its name.
pub fn add_logins(database: &LocalDatabase) {
    add_logins_with(
        database,
        &[(SERVER, "vendgate_api"), (WORKER, "vendgate_worker"), (OPERATOR, "vendgate_operator")],
    );
}

/// People with one role each: support, an administrator, two of finance, and a second administrator.
pub const PEOPLE: [(&str, &str); 5] = [
    ("sethunya", "vendgate_support"),
    ("thabo", "vendgate_finance"),
    ("mpho", "vendgate_finance"),
    ("lesego", "vendgate_administrator"),
    ("kabelo", "vendgate_administrator"),
];

/// Creates logins with these roles. The password of each login is its name.
pub fn add_logins_with(database: &LocalDatabase, logins: &[(&str, &str)]) {
    // Logins belong to the server, which the tests of a process share. So another test may have created them, or does so
    // at this moment. To find one is quicker than to fail: a password is hashed before its login is refused.
    let statements = logins.iter().map(|(login, role)| {
        format!(
            "DO $$ BEGIN
                 IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{login}') THEN
                     CREATE ROLE {login} LOGIN PASSWORD '{login}' IN ROLE {role};
                 END IF;
             EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;"
        )
    });
    database
        .run_sql(&statements.collect::<String>())
        .expect("the roles of a migrated database can have logins");
}

/// Settings for the database at `url` with small pools, because the tests of a process share the connections of a server.
pub fn settings_at(url: String) -> DatabaseSettings {
    let mut settings = DatabaseSettings::for_database(url);
    (settings.pool_size, settings.money_pool_size, settings.lanes) = (4, 4, Some(2));
    settings
}

/// The same for `database` as `login`.
pub fn settings_as(login: &str, database: &LocalDatabase) -> DatabaseSettings {
    settings_at(database.url_as(login, login))
}
