//! A migrated database for each test of this crate.

use local_postgres::{LocalDatabase, LocalPostgres};
use tokio::runtime::{Builder, Handle};

use crate::{Database, DatabaseError, DatabaseSettings, migrate};

/// A database of its own, migrated.
pub(crate) fn migrated() -> LocalDatabase {
    let prepared = LocalPostgres::shared().database_from_template("database_unit", |url| {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.map_err(DatabaseError::unavailable)?.block_on(migrate(&url.into())).map(drop)
    });
    prepared.expect("a test needs its database")
}

/// The default settings for `database`.
pub(crate) fn settings(database: &LocalDatabase) -> DatabaseSettings {
    DatabaseSettings::for_database(database.url())
}

/// A connected database. Its connections live on this test's runtime.
pub(crate) async fn connected(settings: DatabaseSettings) -> Result<Database, DatabaseError> {
    Database::connect(settings, Handle::current()).await
}

/// A migrated database of its own, connected.
pub(crate) async fn database() -> (Database, LocalDatabase) {
    let local = migrated();
    let database = connected(settings(&local)).await.expect("the database of a test connects");
    (database, local)
}
