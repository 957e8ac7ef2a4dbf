//! A migrated database for each test of this crate.

use database::{Database, DatabaseError, DatabaseSettings, migrate};
use local_postgres::{LocalDatabase, LocalPostgres};
use tokio::runtime::{Builder, Handle};

/// A database of its own, migrated.
pub(crate) fn migrated() -> LocalDatabase {
    let prepared = LocalPostgres::shared().database_from_template("catalogue_unit", |url| {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.map_err(DatabaseError::unavailable)?.block_on(migrate(&url.into())).map(drop)
    });
    prepared.expect("a test needs its database")
}

/// A migrated database of its own, connected. Its connections live on this test's runtime.
pub(crate) async fn database() -> (Database, LocalDatabase) {
    let local = migrated();
    let settings = DatabaseSettings::for_database(local.url());
    let database = Database::connect(settings, Handle::current()).await;
    (database.expect("the database of a test connects"), local)
}
