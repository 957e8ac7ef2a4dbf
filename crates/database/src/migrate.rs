//! The migrations, embedded in the binaries. The owner applies them, and every other role compares them.
//!
//! A migration must not hold up sales. One that waits for a table makes every later statement wait behind it, so it gives
//! way soon and is tried again.

mod watch;

use std::{sync::Arc, time::Duration};

use diesel_async::{AsyncPgConnection, async_connection_wrapper::AsyncConnectionWrapper};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use secrecy::{ExposeSecret, SecretString};
use tokio::{runtime::Handle, time::sleep};
use tokio_postgres::Client;

use crate::{
    DatabaseError, DatabaseSettings,
    address::{Address, Host},
    primary, schema, session,
    timeline::Timeline,
};

use watch::{LONGER_THAN_A_VACUUM, SHORT, Watch};

pub(crate) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations");

/// A number that no other program uses for a lock in the same database.
const TAKE_LOCK: &str = "SELECT pg_advisory_lock(7286446395)";

/// How often a migration gives way before the operator is asked for help, and the pause before it is tried again.
const ATTEMPTS: usize = 30;
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(1);

type Sync = AsyncConnectionWrapper<AsyncPgConnection>;

/// Migrates the database at `owner_url` to this program's schema, as its owner, and returns the versions that it
/// applied. Several processes may start this at once: they wait for each other. A database with later migrations, which
/// still serves this program, is left as it is.
///
/// # Errors
/// [`DatabaseError::ProgramTooOld`] if the database no longer serves this program, and [`DatabaseError::Migration`] if a
/// migration fails, if it finds programs connected that it would break, or if another session holds a table all the time.
pub async fn migrate(owner_url: &SecretString) -> Result<Vec<String>, DatabaseError> {
    let client = connect(owner_url).await?;
    client.batch_execute(TAKE_LOCK).await?;
    match schema::check(&client).await {
        Ok(later) => {
            if let Some(newest) = later.last() {
                tracing::info!(newest, "the database has later migrations, and still serves this program");
            }
            return Ok(Vec::new());
        }
        // A later program may have migrated before this one. What is missing then is applied all the same.
        Err(DatabaseError::Schema { .. }) => {}
        Err(error) => return Err(error),
    }
    let watch = Watch::begin(connect(owner_url).await?, &client).await?;
    let connection = AsyncPgConnection::try_from(client).await.map_err(DatabaseError::unavailable)?;
    apply(Sync::from(connection), &watch).await
}

async fn connect(owner_url: &SecretString) -> Result<Client, DatabaseError> {
    let address = Address::parse(owner_url.expose_secret()).map_err(DatabaseError::unavailable)?;
    let settings = DatabaseSettings::for_database(owner_url.clone());
    let within = settings.connect_timeout();
    let open = move |host| open(host, settings.clone());
    primary::connect(&address, within, &Handle::current(), open).await
}

/// A session of the owner. Its statements have no time limit, because a migration may take long.
async fn open(host: Host, settings: DatabaseSettings) -> Result<(Timeline, Client), DatabaseError> {
    // Its task ends with the connection.
    let (client, _driver) = host.connect(&Arc::default()).await.map_err(DatabaseError::unavailable)?;
    Ok((session::confirm(&client, &settings).await?, client))
}

/// Applies what is missing, one migration after the other. Dropping the connection at the end releases the lock.
async fn apply(mut connection: Sync, watch: &Watch) -> Result<Vec<String>, DatabaseError> {
    let mut applied = Vec::new();
    let mut attempts = 0_usize;
    loop {
        watch.allows(if attempts % 10 == 9 { LONGER_THAN_A_VACUUM } else { SHORT });
        let step = tokio::task::spawn_blocking(move || {
            let outcome = apply_next(&mut connection);
            (connection, outcome)
        });
        let outcome;
        (connection, outcome) = step.await.map_err(|source| DatabaseError::Lost { source })?;
        let gave_way_to = watch.gave_way_to();
        match outcome {
            Ok(Some(version)) => {
                attempts = 0;
                applied.push(version);
            }
            Ok(None) => return Ok(applied),
            Err(source) => {
                let holders = gave_way_to.ok_or(DatabaseError::Migration { source })?;
                attempts = attempts.saturating_add(1);
                tracing::info!(attempts, holders, "the migration gave way, and is tried again");
                if attempts >= ATTEMPTS {
                    return Err(held(&holders));
                }
                sleep(TRIED_AGAIN_AFTER).await;
            }
        }
    }
}

fn held(holders: &str) -> DatabaseError {
    let reason = format!(
        "sessions hold a table that it changes: {holders}. End them, and run api-server migrate again: what is applied stays"
    );
    DatabaseError::Migration { source: reason.into() }
}

/// Applies the first migration that is missing.
fn apply_next(connection: &mut Sync) -> diesel::migration::Result<Option<String>> {
    let pending = connection.pending_migrations(MIGRATIONS)?;
    let Some(next) = pending.first() else { return Ok(None) };
    let version = next.name().version().to_string();
    tracing::info!(migration = %next.name(), "applying");
    if !next.metadata().run_in_transaction() {
        // It may have been interrupted before: an index that was not completed remains, and is not valid.
        next.revert(connection)?;
    }
    connection.run_migration(next)?;
    Ok(Some(version))
}
