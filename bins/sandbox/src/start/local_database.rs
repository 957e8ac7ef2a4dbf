//! The database and its roles, as in an installation: an owner, and logins that cannot change history.

use database::{MIGRATIONS_DIGEST, migrate};
use local_postgres::{LocalDatabase, LocalPostgres, LocalPostgresError};
use tokio::runtime::Builder;

use super::StartError;
use crate::{Options, office::random_word};

const NAME: &str = "vendgate";

/// The database, and the private Postgres unless it is in a cluster.
///
/// A private Postgres is a copy of one that is migrated already, if this program is in a build directory: migrations take longer
/// than everything else at a start. In a cluster the database is empty.
pub(super) fn find_database(options: &Options) -> Result<(Option<LocalPostgres>, LocalDatabase), StartError> {
    if let Some(cluster) = &options.cluster {
        let database = cluster.create_database(NAME)?;
        make_roles(&database)?;
        return Ok((None, database));
    }
    // All that `prepare` does follows from these.
    let version = format!("{MIGRATIONS_DIGEST} {}", roles_of(NAME));
    let (durability, settings) = (options.durability, options.postgres_settings);
    let postgres = LocalPostgres::start_prepared(durability, settings, ("sandbox", &version), prepare)?;
    let database = postgres.database(NAME)?;
    Ok((Some(postgres), database))
}

/// Makes the roles and the migrated database, unless they came with the server.
fn prepare(postgres: &LocalPostgres) -> Result<(), StartError> {
    let exists = format!("SELECT count(*) FROM pg_database WHERE datname = '{NAME}'");
    if postgres.database("postgres")?.run_sql(&exists)? == "1" {
        return Ok(());
    }
    let database = postgres.create_database(NAME)?;
    make_roles(&database)?;
    let owner = random_word(16)?;
    set_password(&database, OWNER, &owner)?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(StartError::Threads)?;
    runtime.block_on(migrate(&database.url_as(OWNER, &owner).into()))?;
    Ok(())
}

/// The database, and the URLs of its roles.
pub(super) struct TestEnv {
    pub(super) database: LocalDatabase,
    /// The owner of the schema.
    pub(super) owner_url: String,
    /// The login of the API server.
    pub(super) api_url: String,
    /// The login of the worker.
    pub(super) worker_url: String,
    /// The login of the operator.
    pub(super) operator_url: String,
    /// The login of a second operator, who approves what the first has asked for.
    pub(super) colleague_url: String,
    /// The login of a person at the support desk.
    pub(super) support_url: String,
    /// The login of the console.
    pub(super) console_url: String,
}

impl TestEnv {
    /// Gives each login a new password.
    pub(super) fn with_new_passwords(database: LocalDatabase) -> Result<Self, StartError> {
        let url = |login: &str| -> Result<String, StartError> {
            let password = random_word(16)?;
            set_password(&database, login, &password)?;
            Ok(database.url_as(login, &password))
        };
        Ok(Self {
            owner_url: url(OWNER)?,
            api_url: url("vendgate_api_login")?,
            worker_url: url("vendgate_worker_login")?,
            operator_url: url("vendgate_operator_login")?,
            colleague_url: url("vendgate_colleague_login")?,
            support_url: url("vendgate_support_login")?,
            console_url: url("vendgate_console_login")?,
            database,
        })
    }

    /// Leaves the worker only its own rights, after the migrations have granted them.
    ///
    /// # Errors
    /// [`LocalPostgresError`], when the database refuses.
    pub(super) fn separate_worker(&self) -> Result<(), LocalPostgresError> {
        self.database.run_sql("REVOKE vendgate_api FROM vendgate_worker").map(drop)
    }
}

const OWNER: &str = "vendgate_owner";

/// The group roles are created here because the owner is not allowed to create roles. No login has a password yet.
fn make_roles(database: &LocalDatabase) -> Result<(), LocalPostgresError> {
    database.run_sql(&roles_of(database.name())).map(drop)
}

fn roles_of(database: &str) -> String {
    format!(
        "CREATE ROLE vendgate_api NOLOGIN;
        CREATE ROLE vendgate_worker NOLOGIN IN ROLE vendgate_api;
        CREATE ROLE vendgate_operator NOLOGIN IN ROLE vendgate_api;
        CREATE ROLE vendgate_support NOLOGIN;
        CREATE ROLE vendgate_finance NOLOGIN;
        CREATE ROLE vendgate_administrator NOLOGIN;
        CREATE ROLE vendgate_token_reader NOLOGIN;
        CREATE ROLE vendgate_console NOLOGIN;
        CREATE ROLE {OWNER} LOGIN;
        CREATE ROLE vendgate_api_login LOGIN IN ROLE vendgate_api;
        CREATE ROLE vendgate_worker_login LOGIN IN ROLE vendgate_worker;
        CREATE ROLE vendgate_operator_login LOGIN IN ROLE vendgate_operator;
        CREATE ROLE vendgate_colleague_login LOGIN IN ROLE vendgate_operator, vendgate_token_reader;
        CREATE ROLE vendgate_support_login LOGIN IN ROLE vendgate_support;
        CREATE ROLE vendgate_console_login LOGIN IN ROLE vendgate_console;
        ALTER DATABASE {database} OWNER TO {OWNER}"
    )
}

fn set_password(database: &LocalDatabase, login: &str, password: &str) -> Result<(), LocalPostgresError> {
    database.run_sql(&format!("ALTER ROLE {login} PASSWORD '{password}'")).map(drop)
}
