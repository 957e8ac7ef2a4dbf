//! Settings of a store that connects through a proxy. The proxy can cut the connection.

use database::DatabaseSettings;
use local_postgres::LocalDatabase;
use test_kit::{
    database::{SERVER, settings_at},
    wire::Wire,
};

/// A proxy to the database, and settings that connect through it.
pub fn wired(database: &LocalDatabase) -> (Wire, DatabaseSettings) {
    let wire = Wire::to(database).unwrap();
    let url = wire.through(&database.url_as(SERVER, SERVER));
    (wire, settings_at(url))
}
