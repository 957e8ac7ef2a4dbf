//! The database and its roles, as in an installation: an owner, and logins that cannot change history.

use local_postgres::{LocalDatabase, LocalPostgresError};

use super::StartError;
use crate::office::random_word;

/// An empty database, and the URLs of its roles.
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
    /// Creates the owner of the empty database, and the logins of the servers.
    pub(super) fn found(database: LocalDatabase) -> Result<Self, StartError> {
        let passwords = Passwords {
            owner: random_word(16)?,
            api: random_word(16)?,
            worker: random_word(16)?,
            operator: random_word(16)?,
            colleague: random_word(16)?,
            support: random_word(16)?,
            console: random_word(16)?,
        };
        make_roles(&database, &passwords)?;
        let Passwords { owner, api, worker, operator, colleague, support, console } = passwords;
        Ok(Self {
            owner_url: database.url_as("vendgate_owner", &owner),
            api_url: database.url_as("vendgate_api_login", &api),
            worker_url: database.url_as("vendgate_worker_login", &worker),
            operator_url: database.url_as("vendgate_operator_login", &operator),
            colleague_url: database.url_as("vendgate_colleague_login", &colleague),
            support_url: database.url_as("vendgate_support_login", &support),
            console_url: database.url_as("vendgate_console_login", &console),
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

struct Passwords {
    owner: String,
    api: String,
    worker: String,
    operator: String,
    colleague: String,
    support: String,
    console: String,
}

/// The group roles are created here because the owner is not allowed to create roles.
fn make_roles(database: &LocalDatabase, passwords: &Passwords) -> Result<(), LocalPostgresError> {
    let Passwords { owner, api, worker, operator, colleague, support, console } = passwords;
    let statements = [
        "CREATE ROLE vendgate_api NOLOGIN".to_owned(),
        "CREATE ROLE vendgate_worker NOLOGIN IN ROLE vendgate_api".to_owned(),
        "CREATE ROLE vendgate_operator NOLOGIN IN ROLE vendgate_api".to_owned(),
        "CREATE ROLE vendgate_support NOLOGIN".to_owned(),
        "CREATE ROLE vendgate_finance NOLOGIN".to_owned(),
        "CREATE ROLE vendgate_administrator NOLOGIN".to_owned(),
        "CREATE ROLE vendgate_token_reader NOLOGIN".to_owned(),
        "CREATE ROLE vendgate_console NOLOGIN".to_owned(),
        format!("CREATE ROLE vendgate_owner LOGIN PASSWORD '{owner}'"),
        format!("CREATE ROLE vendgate_api_login LOGIN PASSWORD '{api}' IN ROLE vendgate_api"),
        format!("CREATE ROLE vendgate_worker_login LOGIN PASSWORD '{worker}' IN ROLE vendgate_worker"),
        format!("CREATE ROLE vendgate_operator_login LOGIN PASSWORD '{operator}' IN ROLE vendgate_operator"),
        format!(
            "CREATE ROLE vendgate_colleague_login LOGIN PASSWORD '{colleague}' IN ROLE vendgate_operator, vendgate_token_reader"
        ),
        format!("CREATE ROLE vendgate_support_login LOGIN PASSWORD '{support}' IN ROLE vendgate_support"),
        format!("CREATE ROLE vendgate_console_login LOGIN PASSWORD '{console}' IN ROLE vendgate_console"),
        format!("ALTER DATABASE {} OWNER TO vendgate_owner", database.name()),
    ];
    database.run_sql(&statements.join("; ")).map(drop)
}
