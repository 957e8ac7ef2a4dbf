//! The migrations, embedded in the binaries. The owner applies them, and every other role compares them.
//!
//! A migration must not hold up sales. One that waits for a table makes every later statement wait behind it, so it gives
//! way soon and is tried again.

mod watch;

use std::{sync::Arc, time::Duration};

use diesel::{connection::SimpleConnection, migration::MigrationSource, pg::Pg};
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

/// A hash of all migrations of this program. It changes with each character of them.
pub const MIGRATIONS_DIGEST: &str = env!("MIGRATIONS_DIGEST");

pub(crate) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations");

/// A number that no other program uses for a lock in the same database. The lock is not waited for in a statement: an index that
/// is built concurrently waits for all other statements, and with it the migration that holds the lock.
const TAKE_LOCK: &str = "SELECT FROM (SELECT pg_try_advisory_lock(7286446395) AS taken) lock WHERE taken";
const LOCK_TRIED_EVERY: Duration = Duration::from_millis(100);

/// The watch cancels a statement sooner. But if its own session is lost, no statement may hold up sales for longer. What takes
/// long waits for transactions, and nothing waits behind it.
const GIVE_UP_SOON: &str = "SET lock_timeout = '2s'";
const WAIT: &str = "SET lock_timeout = 0";

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
    while session::row(&client, TAKE_LOCK).await?.is_none() {
        sleep(LOCK_TRIED_EVERY).await;
    }
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
    apply(|| MIGRATIONS, client, owner_url).await
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

/// Applies what is missing, one migration after the other. The end of the connection releases the lock.
async fn apply<Source: MigrationSource<Pg>>(
    migrations: impl Fn() -> Source + Clone + Send + 'static,
    client: Client,
    owner_url: &SecretString,
) -> Result<Vec<String>, DatabaseError> {
    let watch = Watch::begin(connect(owner_url).await?, &client).await?;
    let connection = AsyncPgConnection::try_from(client).await.map_err(DatabaseError::unavailable)?;
    let mut connection = Sync::from(connection);
    let mut applied = Vec::new();
    let mut attempts = 0_usize;
    loop {
        watch.allows(if attempts % 10 == 9 { LONGER_THAN_A_VACUUM } else { SHORT });
        let migrations = migrations.clone();
        let step = tokio::task::spawn_blocking(move || {
            let outcome = apply_next(migrations(), &mut connection);
            (connection, outcome)
        });
        let outcome;
        (connection, outcome) = step.await.map_err(|source| DatabaseError::Lost { source })?;
        let gave_way_to = watch.gave_way_to().await;
        match outcome {
            Ok(Some(version)) => {
                attempts = 0;
                applied.push(version);
            }
            Ok(None) => return Ok(applied),
            Err(source) => {
                let holders = gave_way_to.ok_or(DatabaseError::Migration { source })?;
                attempts = attempts.saturating_add(1);
                tracing::info!(
                    attempts,
                    holders,
                    "the migration waited too long for a lock, was rolled back, and is tried again"
                );
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
fn apply_next(
    migrations: impl MigrationSource<Pg>,
    connection: &mut Sync,
) -> diesel::migration::Result<Option<String>> {
    let pending = connection.pending_migrations(migrations)?;
    let Some(next) = pending.first() else { return Ok(None) };
    let version = next.name().version().to_string();
    tracing::info!(migration = %next.name(), "applying");
    let is_short = next.metadata().run_in_transaction();
    connection.batch_execute(if is_short { GIVE_UP_SOON } else { WAIT })?;
    if !is_short {
        // It may have been interrupted before: an index that was not completed remains, and is not valid.
        next.revert(connection)?;
    }
    connection.run_migration(next)?;
    Ok(Some(version))
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::PathBuf};

    use diesel_migrations::FileBasedMigrations;
    use local_postgres::LocalDatabase;
    use test_kit::waiting::until;

    use super::*;
    use crate::test_database::migrated;

    const APART: &str = "run_in_transaction = false\n";
    const INDEX: &str = "CREATE INDEX CONCURRENTLY accounts_by_name ON accounts (name)";
    /// As a migration that fills a column does it.
    const BATCHES: &str = "DO $$
        DECLARE changed bigint; done bigint := 0;
        BEGIN
            LOOP
                UPDATE sold SET total = 1 WHERE id IN (SELECT id FROM sold WHERE total IS NULL LIMIT 10 FOR UPDATE SKIP LOCKED);
                GET DIAGNOSTICS changed = ROW_COUNT;
                EXIT WHEN changed = 0;
                done := done + changed;
                COMMIT;
                RAISE NOTICE '% rows are filled', done;
            END LOOP;
        END $$";

    /// A directory with one migration, until it is dropped.
    struct Directory(PathBuf);

    impl Directory {
        fn with(name: &str, up: &str, down: &str) -> Self {
            let directory =
                Self(env::temp_dir().join(format!("vendgate-migrations-{name}-{}", std::process::id())));
            let migration = directory.0.join("2999-12-31-000000_later");
            fs::create_dir_all(&migration).unwrap();
            for (file, text) in [("up.sql", up), ("down.sql", down), ("metadata.toml", APART)] {
                fs::write(migration.join(file), text).unwrap();
            }
            directory
        }

        async fn is_applied_to(&self, database: &LocalDatabase) -> Result<Vec<String>, DatabaseError> {
            let (migrations, url) = (FileBasedMigrations::from_path(&self.0).unwrap(), database.url().into());
            apply(move || migrations.clone(), connect(&url).await?, &url).await
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[tokio::test]
    async fn an_index_that_was_not_completed_is_built_anew() {
        let database = migrated();
        database.run_sql("CREATE TABLE ledgers (name text)").unwrap();
        database.run_sql("INSERT INTO ledgers VALUES ('twice'), ('twice')").unwrap();
        let up = "CREATE UNIQUE INDEX CONCURRENTLY ledgers_by_name ON ledgers (name)";
        let index = Directory::with("index", up, "DROP INDEX CONCURRENTLY IF EXISTS ledgers_by_name");
        let failed = index.is_applied_to(&database).await.unwrap_err();
        assert!(matches!(failed, DatabaseError::Migration { .. }), "{failed:?}");
        let valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'ledgers_by_name'::regclass";
        assert_eq!(database.run_sql(valid).unwrap(), "f", "what a failed attempt leaves");

        database.run_sql("DELETE FROM ledgers WHERE ctid = '(0,1)'").unwrap();
        assert_eq!(index.is_applied_to(&database).await.unwrap(), ["29991231000000"]);
        assert_eq!(database.run_sql(valid).unwrap(), "t");
    }

    #[tokio::test]
    async fn an_index_waits_for_a_transaction_that_reads_its_table_and_is_not_given_up() {
        let database = migrated();
        let reader =
            crate::test_database::connected(crate::test_database::settings(&database)).await.unwrap();
        let reader = reader.begin().await.unwrap();
        reader.batch_execute("LOCK accounts IN ROW EXCLUSIVE MODE").await.unwrap();
        let index = Directory::with("waits", INDEX, "DROP INDEX CONCURRENTLY IF EXISTS accounts_by_name");
        let applying = async { index.is_applied_to(&database).await.unwrap() };
        let releasing = async {
            let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'virtualxid'
                             AND waitstart < now() - interval '1 second'";
            until("the index waits for longer than a table is waited for", || {
                database.run_sql(waits).unwrap() != "0"
            })
            .await;
            reader.roll_back().await;
        };
        let (applied, ()) = tokio::join!(applying, releasing);
        assert_eq!(applied, ["29991231000000"]);
    }

    #[tokio::test]
    async fn many_rows_are_changed_in_batches_that_are_kept_when_a_later_one_fails() {
        let database = migrated();
        database
            .run_sql("CREATE TABLE sold (id bigint, total bigint, CHECK (total IS NULL OR id <> 25))")
            .unwrap();
        database.run_sql("INSERT INTO sold SELECT generate_series(1, 40)").unwrap();
        let fill = Directory::with("fill", BATCHES, "SELECT 'what is filled may stay'");
        fill.is_applied_to(&database).await.unwrap_err();
        let filled = "SELECT count(*) FROM sold WHERE total IS NOT NULL";
        assert_eq!(database.run_sql(filled).unwrap(), "20", "two batches of ten");

        database.run_sql("DELETE FROM sold WHERE id = 25").unwrap();
        fill.is_applied_to(&database).await.unwrap();
        assert_eq!(database.run_sql(filled).unwrap(), "39");
    }
}
