//! A database as INSTALL.md makes one: an owner that migrates and is no superuser, and a login for each
//! serving program.

use database::{DatabaseError, migrate};
use local_postgres::{LocalDatabase, LocalPostgres};
use tokio::runtime::Builder;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use crate::env::TestEnv;

/// The logins of an installation: of a server, of the worker, and of an operator.
pub const LOGINS: [&str; 3] = ["test_server", "test_worker", "test_operator"];

/// The same, an operator of each role, and the console.
pub const EVERY_LOGIN: [&str; 7] = [
    "test_server",
    "test_worker",
    "test_operator",
    "test_support",
    "test_finance",
    "test_administrator",
    "test_console",
];

const OWNED: &str = "
    CREATE ROLE vendgate_api NOLOGIN;
    CREATE ROLE vendgate_worker NOLOGIN IN ROLE vendgate_api;
    CREATE ROLE vendgate_operator NOLOGIN IN ROLE vendgate_api;
    CREATE ROLE vendgate_support NOLOGIN;
    CREATE ROLE vendgate_finance NOLOGIN;
    CREATE ROLE vendgate_administrator NOLOGIN;
    CREATE ROLE vendgate_token_reader NOLOGIN;
    CREATE ROLE vendgate_console NOLOGIN;
    CREATE ROLE test_console LOGIN PASSWORD 'test_console' IN ROLE vendgate_console;
    CREATE ROLE test_support LOGIN PASSWORD 'test_support' IN ROLE vendgate_support;
    CREATE ROLE test_finance LOGIN PASSWORD 'test_finance' IN ROLE vendgate_finance;
    CREATE ROLE test_administrator LOGIN PASSWORD 'test_administrator' IN ROLE vendgate_administrator;
    CREATE ROLE test_owner LOGIN PASSWORD 'test_owner';
    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO test_owner', current_database()); END $$;";

/// After all migrations the worker keeps its own rights only.
const MIGRATED: &str = "
    REVOKE vendgate_api FROM vendgate_worker;
    CREATE ROLE test_worker LOGIN PASSWORD 'test_worker' IN ROLE vendgate_worker;";

/// An environment in a database of an installation.
pub async fn env() -> TestEnv {
    TestEnv::on(LocalPostgres::shared().database_from_template("installed", install).unwrap()).await
}

/// A connection with one of the logins.
pub struct Login(Client);

impl Login {
    /// Connects as `login`, whose password is its name.
    pub async fn of(database: &LocalDatabase, login: &str) -> Self {
        let (client, connection) =
            tokio_postgres::connect(&database.url_as(login, login), NoTls).await.unwrap();
        tokio::spawn(connection);
        Self(client)
    }

    /// Runs statements in their own transaction. Returns their rows, or the error of the database.
    pub async fn runs(&self, sql: &str) -> Result<Vec<Vec<String>>, String> {
        let answers = self.0.simple_query(sql).await.map_err(|error| said(&error))?;
        let rows = answers.into_iter().filter_map(|answer| {
            let SimpleQueryMessage::Row(row) = answer else { return None };
            Some((0..row.len()).map(|n| row.get(n).unwrap_or_default().to_owned()).collect())
        });
        Ok(rows.collect())
    }

    /// The error of the database for statements that it must refuse.
    pub async fn is_refused(&self, sql: &str) -> String {
        match self.runs(sql).await {
            Ok(rows) => panic!("allowed: {sql}: {rows:?}"),
            Err(said) => said,
        }
    }
}

/// The message, and the constraint that it names.
fn said(error: &tokio_postgres::Error) -> String {
    let Some(error) = error.as_db_error() else { return error.to_string() };
    format!("{} [{}]", error.message(), error.constraint().unwrap_or_default())
}

fn install(url: &str) -> Result<(), DatabaseError> {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (superuser, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        superuser.batch_execute(OWNED).await.unwrap();
        let (_, place) = url.split_once('@').unwrap();
        migrate(&format!("postgres://test_owner:test_owner@{place}").into()).await?;
        superuser.batch_execute(MIGRATED).await.unwrap();
        drop(superuser);
        connection.await.unwrap().unwrap();
        Ok(())
    })
}
