//! Settings of a store that connects through a proxy. The proxy can cut the connection.

use database::DatabaseSettings;
use local_postgres::{LocalDatabase, Wire};

use crate::env::settings;

/// A proxy to the database, and settings that connect through it.
pub fn wired(database: &LocalDatabase) -> (Wire, DatabaseSettings) {
    let wire = Wire::to(database).unwrap();
    let url = wire.through(&database.url_as("test_server", "test_server"));
    (wire, DatabaseSettings { database_url: url.into(), ..settings(database) })
}
