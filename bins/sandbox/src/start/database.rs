//! The database and its roles, as an installation has them: an owner, and logins that cannot rewrite history.

use local_postgres::{Database, LocalPostgres, LocalPostgresError};

use super::StartError;
use crate::office::random_word;

/// An empty database, and who may do what in it.
pub(super) struct Town {
    pub(super) database: Database,
    /// Owns the schema.
    pub(super) owner_url: String,
    /// Serves.
    pub(super) api_url: String,
    /// Looks after what is open.
    pub(super) worker_url: String,
    /// Lets organisations in.
    pub(super) operator_url: String,
}

impl Town {
    /// Makes the database, its owner and the logins of those who serve.
    pub(super) fn found(postgres: &LocalPostgres) -> Result<Self, StartError> {
        let database = postgres.create_database("vendgate")?;
        let passwords = Passwords {
            owner: random_word(16)?,
            api: random_word(16)?,
            worker: random_word(16)?,
            operator: random_word(16)?,
        };
        make_roles(&database, &passwords)?;
        let Passwords { owner, api, worker, operator } = passwords;
        Ok(Self {
            owner_url: database.url_as("vendgate_owner", &owner),
            api_url: database.url_as("vendgate_api_login", &api),
            worker_url: database.url_as("vendgate_worker_login", &worker),
            operator_url: database.url_as("vendgate_operator_login", &operator),
            database,
        })
    }

    /// Leaves the worker with its own rights, once they are there.
    ///
    /// # Errors
    /// [`LocalPostgresError`], when the database refuses.
    pub(super) fn separate_worker(&self) -> Result<(), LocalPostgresError> {
        self.database.run_sql("REVOKE vendgate_api FROM vendgate_worker").map(drop)
    }
}

struct Passwords {
    owner: String,
    api: String,
    worker: String,
    operator: String,
}

/// The group roles are made here because the owner may not make any.
fn make_roles(database: &Database, passwords: &Passwords) -> Result<(), LocalPostgresError> {
    let Passwords { owner, api, worker, operator } = passwords;
    let statements = [
        "CREATE ROLE vendgate_api NOLOGIN".to_owned(),
        "CREATE ROLE vendgate_worker NOLOGIN IN ROLE vendgate_api".to_owned(),
        "CREATE ROLE vendgate_operator NOLOGIN IN ROLE vendgate_api".to_owned(),
        format!("CREATE ROLE vendgate_owner LOGIN PASSWORD '{owner}'"),
        format!("CREATE ROLE vendgate_api_login LOGIN PASSWORD '{api}' IN ROLE vendgate_api"),
        format!("CREATE ROLE vendgate_worker_login LOGIN PASSWORD '{worker}' IN ROLE vendgate_worker"),
        format!("CREATE ROLE vendgate_operator_login LOGIN PASSWORD '{operator}' IN ROLE vendgate_operator"),
        format!("ALTER DATABASE {} OWNER TO vendgate_owner", database.name()),
    ];
    database.run_sql(&statements.join("; ")).map(drop)
}
