//! One connection that this program trusts: opened on the engine, with its settings applied and checked.
//!
//! This crate drives the connection itself, for two reasons. A connection dies with the runtime that drives it, so that
//! runtime must be the engine, whichever caller asks. And the server may acknowledge a commit with only a warning that
//! no standby has it.

use std::{
    any::TypeId,
    collections::HashMap,
    fmt, future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use secrecy::ExposeSecret;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Handle,
    sync::{Mutex as AsyncMutex, MutexGuard},
    task::AbortHandle,
};
use tokio_postgres::{
    AsyncMessage, Client, SimpleQueryMessage, SimpleQueryRow, Socket, Statement, error::Severity,
};

use crate::{
    DatabaseError, DatabaseSettings,
    address::{Address, AddressError},
};

/// How long a peer may leave bytes unacknowledged, or an idle connection unproven, before it counts as dead.
const DEAD_PEER: Duration = Duration::from_secs(10);

/// The oldest Postgres that this program runs on.
const OLDEST_VERSION: u32 = 150_000;

/// A connection and the task that drives it. Dropping it closes the socket at once and never sends a cancel. A cancel
/// could turn a commit that waits for its standby into one that no standby has.
pub struct Connection {
    client: Client,
    /// The statements that the server has prepared for this connection, by their types.
    prepared: Mutex<HashMap<TypeId, Statement>>,
    /// Whose statement is sent next.
    turns: AsyncMutex<()>,
    driver: AbortHandle,
    warnings: Arc<AtomicU64>,
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The lanes.
    Money,
    /// All other statements of a server that answers requests.
    Requests,
    /// Everything that the worker and operators do besides. Some of it reads whole tables.
    General,
}

impl Purpose {
    /// The name of its pool in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Money => "money",
            Self::Requests | Self::General => "general",
        }
    }

    /// The statements that set up its sessions, in addition to those of every session.
    ///
    /// A statement of a request finds its rows by keys, and an index has them. The planner knows that only if it has
    /// statistics. Without them, on a young database, it sorted the whole history of an organisation for a page of 20
    /// purchases, and it keeps such a plan until the next `ANALYZE`. So in these sessions every other kind of plan counts
    /// as too dear.
    pub const fn session(self) -> &'static str {
        match self {
            Self::Money | Self::Requests => {
                "SET plan_cache_mode = force_generic_plan; SET jit = off; SET enable_seqscan = off;
                 SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
                 SET enable_material = off;"
            }
            Self::General => "",
        }
    }
}

impl Connection {
    /// Connects, sets up the session, and refuses a server or session that is not safe for money.
    pub(crate) async fn open(
        address: &Address,
        settings: &DatabaseSettings,
        purpose: Purpose,
        engine: &Handle,
    ) -> Result<Self, DatabaseError> {
        let (address, settings) = (address.clone(), settings.clone());
        let opened = engine.spawn(async move { Self::open_here(&address, &settings, purpose).await });
        opened.await.map_err(|source| DatabaseError::Unavailable { source: source.into() })?
    }

    /// Runs statements without parameters, which may be several, and reads no rows.
    ///
    /// # Errors
    /// What the server answers to the first that fails.
    pub async fn batch_execute(&self, sql: &str) -> Result<(), DatabaseError> {
        Ok(self.client.batch_execute(sql).await?)
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Waits until the statements that were begun before are sent.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turns.lock().await
    }

    /// The statement of this type, if this connection has prepared it.
    pub(crate) fn prepared(&self, id: TypeId) -> Option<Statement> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    pub(crate) fn keep(&self, id: TypeId, statement: Statement) {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner).insert(id, statement);
    }

    /// Whether it is alive. A transaction that has not ended closes its connection.
    pub(crate) fn is_usable(&self) -> bool {
        !self.client.is_closed()
    }

    /// How many warnings the server has sent over this connection.
    pub(crate) fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Acquire)
    }

    async fn open_here(
        address: &Address,
        settings: &DatabaseSettings,
        purpose: Purpose,
    ) -> Result<Self, DatabaseError> {
        let warnings = Arc::new(AtomicU64::new(0));
        let (client, driver) = address.connect(&warnings).await.map_err(DatabaseError::unavailable)?;
        set_up(&client, settings, purpose).await?;
        Ok(Self { client, prepared: Mutex::default(), turns: AsyncMutex::default(), driver, warnings })
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// The address of the settings, with what this program wants of each connection.
pub(crate) fn address(settings: &DatabaseSettings) -> Result<Address, AddressError> {
    let mut address = Address::parse(settings.database_url.expose_secret())?;
    address
        .config_mut()
        .application_name(settings.application_name.clone())
        .connect_timeout(settings.connect_timeout())
        .tcp_user_timeout(DEAD_PEER)
        .keepalives_idle(DEAD_PEER);
    Ok(address)
}

/// Drives a connection until it ends, and counts the warnings of the server.
pub(crate) async fn drive<Stream: AsyncRead + AsyncWrite + Unpin>(
    mut connection: tokio_postgres::Connection<Socket, Stream>,
    warnings: Arc<AtomicU64>,
) {
    future::poll_fn(move |context| {
        loop {
            match std::task::ready!(connection.poll_message(context)) {
                Some(Ok(AsyncMessage::Notice(notice))) => {
                    if matches!(notice.parsed_severity(), Some(Severity::Warning)) {
                        // Counted before the reply that it belongs to is passed on.
                        warnings.fetch_add(1, Ordering::AcqRel);
                        tracing::warn!(message = notice.message(), "the database warns");
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    tracing::warn!(error = %error, "a database connection ended");
                    return Poll::Ready(());
                }
                None => return Poll::Ready(()),
            }
        }
    })
    .await;
}

/// Sets the session's limits and reads back the required settings, in one round trip.
async fn set_up(client: &Client, settings: &DatabaseSettings, purpose: Purpose) -> Result<(), DatabaseError> {
    let sql = format!(
        "SET lock_timeout = {lock}; SET statement_timeout = {statement};
         SET idle_in_transaction_session_timeout = {idle}; SET client_connection_check_interval = 0;
         SET default_transaction_isolation = 'read committed'; SET TIME ZONE 'UTC';
         SET client_min_messages = warning; {session}
         SELECT current_setting('server_version_num') AS version,
                current_setting('synchronous_commit') AS synchronous_commit,
                current_setting('transaction_read_only') AS read_only",
        session = purpose.session(),
        lock = settings.lock_timeout_ms,
        statement = settings.statement_timeout_ms,
        idle = settings.idle_in_transaction_timeout_ms,
    );
    let answers = client.simple_query(&sql).await.map_err(DatabaseError::unavailable)?;
    let row = answers
        .into_iter()
        .find_map(|answer| if let SimpleQueryMessage::Row(row) = answer { Some(row) } else { None });
    let row = row.ok_or_else(|| DatabaseError::Unavailable { source: "no answer about settings".into() })?;
    check("server_version_num", &row, "version", "150000 or later", |value| {
        value.parse().is_ok_and(|version: u32| version >= OLDEST_VERSION)
    })?;
    check("synchronous_commit", &row, "synchronous_commit", "on", |value| value != "off")?;
    check("transaction_read_only", &row, "read_only", "off", |value| value == "off")
}

fn check(
    name: &'static str,
    row: &SimpleQueryRow,
    column: &str,
    required: &'static str,
    holds: impl FnOnce(&str) -> bool,
) -> Result<(), DatabaseError> {
    let value = row.get(column).unwrap_or_default();
    if holds(value) {
        Ok(())
    } else {
        Err(DatabaseError::Setting { name, value: value.to_owned(), required })
    }
}

#[cfg(test)]
mod tests {
    use diesel::{QueryableByName, sql_types::Text};
    use tokio::runtime::Builder;

    use crate::{
        Connection, Database, DatabaseError, Purpose, Run,
        test_database::{connected, database, migrated, settings},
    };

    #[derive(QueryableByName)]
    struct Shown {
        #[diesel(sql_type = Text)]
        value: String,
    }

    async fn shown(connection: &Connection, setting: &str) -> String {
        let query = diesel::sql_query(format!("SELECT current_setting('{setting}') AS value"));
        query.get_result::<Shown>(connection).await.unwrap().value
    }

    #[tokio::test]
    async fn a_session_that_would_not_wait_for_the_disk_is_refused() {
        let database = migrated();
        let name = database.name();
        database.run_sql(&format!("ALTER DATABASE {name} SET synchronous_commit = off")).unwrap();
        let refused = connected(settings(&database)).await.unwrap_err();
        assert_eq!(refused.to_string(), "the database setting synchronous_commit is \"off\" and must be on");
    }

    #[tokio::test]
    async fn a_database_that_cannot_be_written_is_refused() {
        let database = migrated();
        let name = database.name();
        database.run_sql(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).unwrap();
        let refused = connected(settings(&database)).await.unwrap_err();
        assert!(matches!(refused, DatabaseError::Setting { name: "transaction_read_only", .. }), "{refused}");
    }

    #[tokio::test]
    async fn every_session_has_its_limits_and_an_application_name() {
        let (database, _local) = database().await;
        let connection = database.another_pool(Purpose::Money, 1).get().await.unwrap();
        for (setting, value) in [
            ("lock_timeout", "2s"),
            ("statement_timeout", "5s"),
            ("idle_in_transaction_session_timeout", "5s"),
            ("default_transaction_isolation", "read committed"),
            ("application_name", "vendgate"),
            ("TimeZone", "UTC"),
            ("plan_cache_mode", "force_generic_plan"),
            ("enable_seqscan", "off"),
        ] {
            assert_eq!(shown(&connection, setting).await, value, "{setting}");
        }
    }

    #[tokio::test]
    async fn a_database_that_is_not_there_is_unavailable() {
        let mut nowhere = settings(&migrated());
        nowhere.database_url = "postgres://nobody:nothing@127.0.0.1:1/nowhere".into();
        assert!(matches!(connected(nowhere).await, Err(DatabaseError::Unavailable { .. })));
    }

    #[test]
    fn a_connection_outlives_the_runtime_that_asked_for_it() {
        let engine = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let asking = || Builder::new_current_thread().enable_all().build().unwrap();
        let local = migrated();
        let connecting = Database::connect(settings(&local), Purpose::General, engine.handle().clone());
        let database = asking().block_on(connecting).unwrap();

        let version = async { shown(&database.get().await.unwrap(), "server_version_num").await };
        let before = asking().block_on(version);
        let version = async { shown(&database.get().await.unwrap(), "server_version_num").await };
        assert_eq!(before, asking().block_on(version));
    }
}
