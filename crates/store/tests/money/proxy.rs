//! Settings of a store that connects through a proxy. The proxy can cut the connection.

use local_postgres::{Database, Wire};
use store::StoreSettings;

use crate::env::settings;

/// A proxy to the database, and settings that connect through it.
pub fn wired(database: &Database) -> (Wire, StoreSettings) {
    let wire = Wire::to(database).unwrap();
    let url = wire.through(&database.url_as("test_server", "test_server"));
    (wire, StoreSettings { database_url: url.into(), ..settings(database) })
}
