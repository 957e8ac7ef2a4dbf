//! A migrated database for each test of this crate. It is connected here and not in `test-kit`, which uses another build of
//! this crate with other types.

use local_postgres::LocalDatabase;
pub(crate) use test_kit::database::migrated;
use tokio::runtime::Handle;

use crate::{Database, DatabaseError, DatabaseSettings, Purpose};

/// The default settings for `database`.
pub(crate) fn settings(database: &LocalDatabase) -> DatabaseSettings {
    DatabaseSettings::for_database(database.url())
}

/// A connected database. Its connections live on this test's runtime.
pub(crate) async fn connected(settings: DatabaseSettings) -> Result<Database, DatabaseError> {
    Database::connect(settings, Purpose::General, Handle::current()).await
}

/// A migrated database of its own, connected.
pub(crate) async fn database() -> (Database, LocalDatabase) {
    let local = migrated();
    let database = connected(settings(&local)).await.expect("the database of a test connects");
    (database, local)
}
