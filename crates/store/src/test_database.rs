//! A migrated database for each test of this crate, and the store on it.

use local_postgres::{Database, LocalPostgres};
use purchase::Timing;
use tokio::runtime::{Builder, Handle};

use crate::{SealingKey, SealingKeys, Store, StoreError, StoreSettings, migrate};

/// A database of its own, migrated.
pub(crate) fn migrated() -> Database {
    let prepared = LocalPostgres::shared().database_from_template("store_unit", |url| {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|source| StoreError::Unavailable { source: source.into() })?;
        runtime.block_on(migrate(&url.into())).map(drop)
    });
    prepared.expect("a test needs its database")
}

/// The default settings for `database`.
pub(crate) fn settings(database: &Database) -> StoreSettings {
    StoreSettings::for_database(database.url())
}

/// The store on a database. Its connections live on this test's runtime.
pub(crate) async fn store_with(settings: StoreSettings) -> Result<Store, StoreError> {
    Store::connect(settings, keys(), Timing::default(), Handle::current()).await
}

/// The store on a migrated database of its own.
pub(crate) async fn store() -> (Store, Database) {
    let database = migrated();
    let store = store_with(settings(&database)).await.expect("the store of a test connects");
    (store, database)
}

pub(crate) fn keys() -> SealingKeys {
    SealingKeys::try_new(SealingKey::new(1, &[7; 32]), Vec::new()).expect("one key has one number")
}
