//! What is measured of Postgres itself: bare commits and the time of its processes. The yardsticks connect to it here,
//! without any code of the service.

use std::{convert::Infallible, fs, time::Duration};

use clock::{Clock, SystemClock};
use local_postgres::{LocalDatabase, LocalPostgres};
use tokio_postgres::{Client, NoTls};

use crate::{Failure, kernel::computing_time_of_family, measurement::Measurement};

/// Long enough for thousands of commits.
const LENGTH: Duration = Duration::from_secs(1);

/// A new empty database.
pub fn fresh_database(postgres: &LocalPostgres) -> Result<LocalDatabase, Failure> {
    // An empty template gives each database a name of its own.
    Ok(postgres.database_from_template("bare", |_url| Ok::<(), Infallible>(()))?)
}

/// A connection to a database.
pub async fn connect(database: &LocalDatabase) -> Result<Client, Failure> {
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await?;
    tokio::spawn(async move {
        // The client notices the end of its connection by itself.
        let _ended = connection.await;
    });
    Ok(client)
}

/// Commits of one connection, one after the other: each inserts one row and is synced to disk.
pub async fn bare_commits(postgres: &LocalPostgres) -> Result<Measurement, Failure> {
    let database = fresh_database(postgres)?;
    database.run_sql("CREATE TABLE commits (id bigint GENERATED ALWAYS AS IDENTITY)")?;
    let client = connect(&database).await?;
    let insert = client.prepare("INSERT INTO commits DEFAULT VALUES").await?;
    let began = SystemClock.monotonic();
    let mut latencies = Vec::new();
    while SystemClock.monotonic().elapsed_since(began) < LENGTH {
        let started = SystemClock.monotonic();
        client.execute(&insert, &[]).await?;
        latencies.push(SystemClock.monotonic().elapsed_since(started));
    }
    Ok(Measurement::new(SystemClock.monotonic().elapsed_since(began), latencies))
}

/// The processor time of all processes of the server.
pub fn computing_time(postgres: &LocalPostgres) -> Result<Duration, Failure> {
    let lock_file = fs::read_to_string(postgres.directory().join("data/postmaster.pid"))?;
    let process = lock_file.lines().next().ok_or("the lock file of Postgres is empty")?;
    computing_time_of_family(process.trim().parse()?)
}
