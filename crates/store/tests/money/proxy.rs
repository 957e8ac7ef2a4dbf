//! A store's settings that lead through a wire which can be cut.

use local_postgres::{Database, Wire};
use store::StoreSettings;

use crate::town::settings;

/// A wire to the database, and settings that lead through it.
pub fn wired(database: &Database) -> (Wire, StoreSettings) {
    let wire = Wire::to(database).unwrap();
    let url = wire.through(&database.url_as("test_server", "test_server"));
    (wire, StoreSettings { database_url: url.into(), ..settings(database) })
}
