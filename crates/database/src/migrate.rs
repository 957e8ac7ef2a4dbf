//! The schema, embedded in the binaries. The owner applies it, and every other role compares it.

use std::sync::Arc;

use diesel::{QueryableByName, migration::MigrationSource, pg::Pg, sql_types::Text};
use diesel_async::{AsyncPgConnection, async_connection_wrapper::AsyncConnectionWrapper};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use secrecy::{ExposeSecret, SecretString};
use tokio::runtime::Handle;
use tokio_postgres::Client;

use crate::{
    Connection, DatabaseError, DatabaseSettings, Run,
    address::{Address, Host},
    primary, session,
    timeline::Timeline,
};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations");

/// A number that no other program uses for a lock in the same database.
const TAKE_LOCK: &str = "SELECT pg_advisory_lock(7286446395)";

/// A statement of a migration that waits for a lock makes every later statement wait behind it, those of sales too. So it
/// gives up soon, and the migration can be run again.
const GIVE_UP_SOON: &str = "SET lock_timeout = '2s'";

const NONE: &str = "none";

/// Migrates the database at `owner_url` to this program's schema, as its owner, and returns the versions that it
/// applied. Several processes may start this at once: they wait for each other.
///
/// # Errors
/// [`DatabaseError::Schema`] if the database has a version that this program does not know, and [`DatabaseError::Migration`]
/// if a version cannot be applied, or waits longer than two seconds for a lock that others hold.
pub async fn migrate(owner_url: &SecretString) -> Result<Vec<String>, DatabaseError> {
    let address = Address::parse(owner_url.expose_secret()).map_err(DatabaseError::unavailable)?;
    let settings = DatabaseSettings::for_database(owner_url.clone());
    let within = settings.connect_timeout();
    let open = move |host| open(host, settings.clone());
    let client = primary::connect(&address, within, &Handle::current(), open).await?;
    client.batch_execute(TAKE_LOCK).await?;
    client.batch_execute(GIVE_UP_SOON).await?;
    let connection = AsyncPgConnection::try_from(client).await.map_err(DatabaseError::unavailable)?;
    let applied = tokio::task::spawn_blocking(move || apply(connection)).await;
    applied.map_err(|source| DatabaseError::Lost { source })?
}

/// A session of the owner. Its statements have no time limit, because a migration may take long.
async fn open(host: Host, settings: DatabaseSettings) -> Result<(Timeline, Client), DatabaseError> {
    // Its task ends with the connection.
    let (client, _driver) = host.connect(&Arc::default()).await.map_err(DatabaseError::unavailable)?;
    Ok((session::confirm(&client, &settings).await?, client))
}

/// The newest version of this program's schema.
pub fn schema_version() -> String {
    embedded_versions().pop().unwrap_or_else(|| NONE.to_owned())
}

/// Refuses a database whose schema is not exactly this program's.
pub(crate) async fn check_schema(connection: &Connection) -> Result<(), DatabaseError> {
    let exists = "SELECT coalesce(to_regclass('public.__diesel_schema_migrations')::text, '') AS version";
    let table: Version = diesel::sql_query(exists).get_result(connection).await?;
    let mut found = Vec::new();
    if !table.version.is_empty() {
        let versions = "SELECT version FROM public.__diesel_schema_migrations ORDER BY version";
        found = diesel::sql_query(versions).load(connection).await?;
    }
    compare(&found.into_iter().map(|Version { version }| version).collect::<Vec<_>>())
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = Text)]
    version: String,
}

/// Dropping the connection at the end releases the lock.
fn apply(connection: AsyncPgConnection) -> Result<Vec<String>, DatabaseError> {
    let mut connection = AsyncConnectionWrapper::<AsyncPgConnection>::from(connection);
    let found = connection.applied_migrations().map_err(|source| DatabaseError::Migration { source })?;
    let known = embedded_versions();
    if let Some(unknown) = found.iter().map(ToString::to_string).find(|found| !known.contains(found)) {
        return Err(DatabaseError::Schema { found: unknown, expected: schema_version() });
    }
    let applied = connection.run_pending_migrations(MIGRATIONS);
    let applied = applied.map_err(|source| DatabaseError::Migration { source })?;
    Ok(applied.iter().map(ToString::to_string).collect())
}

fn compare(found: &[String]) -> Result<(), DatabaseError> {
    let expected = embedded_versions();
    if found == expected.as_slice() {
        return Ok(());
    }
    let found = found.last().map_or(NONE, String::as_str).to_owned();
    Err(DatabaseError::Schema { found, expected: schema_version() })
}

/// The versions in the order in which they are applied.
fn embedded_versions() -> Vec<String> {
    let migrations = MigrationSource::<Pg>::migrations(&MIGRATIONS);
    let migrations = migrations.expect("migrations that were embedded when compiling can be listed");
    let mut versions: Vec<_> =
        migrations.iter().map(|migration| migration.name().version().to_string()).collect();
    versions.sort_unstable();
    versions
}
