//! A migrated database for each test of this crate.

use database::{DatabaseError, migrate};
use local_postgres::{LocalDatabase, LocalPostgres};
use tokio::runtime::Builder;

/// A database of its own, migrated.
pub(crate) fn migrated() -> LocalDatabase {
    let prepared = LocalPostgres::shared().database_from_template("back_office_unit", |url| {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.map_err(DatabaseError::unavailable)?.block_on(migrate(&url.into())).map(drop)
    });
    prepared.expect("a test needs its database")
}
