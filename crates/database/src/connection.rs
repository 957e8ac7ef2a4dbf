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
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use secrecy::ExposeSecret;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{Mutex as AsyncMutex, MutexGuard},
    task::AbortHandle,
    time::{Instant, timeout},
};
use tokio_postgres::{
    AsyncMessage, Client, Error as ServerError, Socket, Statement,
    error::{Severity, SqlState},
};

use crate::{
    DatabaseError, DatabaseSettings, Purpose,
    address::{Address, AddressError, Host},
    measures::now,
    purpose::TransactionCommands,
    schema, session,
    timeline::{Timeline, Timelines},
};

/// How long a peer may leave bytes unacknowledged, or an idle connection unproven, before it counts as dead.
const DEAD_PEER: Duration = Duration::from_secs(10);

/// How long a server may take to confirm its settings again.
const CONFIRMED_WITHIN: Duration = Duration::from_secs(1);

/// A connection and the task that drives it. Dropping it closes the socket at once and never sends a cancel. A cancel
/// could turn a commit that waits for its standby into one that no standby has.
pub struct Connection {
    client: Arc<Client>,
    /// The statements that the server has prepared for this connection, by their types.
    prepared: Mutex<HashMap<TypeId, Statement>>,
    /// Whose statement is sent next.
    turns: AsyncMutex<()>,
    driver: AbortHandle,
    /// Ends the driver when another server is promoted.
    guard: AbortHandle,
    warnings: Arc<AtomicU64>,
    /// The server's timeline, and the newest one.
    timeline: Timeline,
    timelines: Timelines,
    /// Whether the server has refused a write as read-only.
    is_read_only: AtomicBool,
    /// When the server last confirmed its settings.
    confirmed_at: Instant,
    transaction_commands: &'static TransactionCommands,
}

impl Connection {
    /// Runs statements without parameters, which may be several, and reads no rows.
    ///
    /// # Errors
    /// What the server answers to the first that fails.
    pub async fn batch_execute(&self, sql: &str) -> Result<(), DatabaseError> {
        self.client.batch_execute(sql).await.map_err(|error| self.failed(error))
    }

    pub(crate) fn client(&self) -> &Arc<Client> {
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

    /// What a failed statement means. A server that only reads is no longer the primary, so its connection is not used
    /// again.
    pub(crate) fn failed(&self, error: ServerError) -> DatabaseError {
        if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) {
            self.is_read_only.store(true, Ordering::Release);
        }
        error.into()
    }

    pub(crate) const fn transaction_commands(&self) -> &'static TransactionCommands {
        self.transaction_commands
    }

    /// Whether it is alive and leads to the primary. A transaction that has not ended closes its connection.
    pub(crate) fn is_usable(&self) -> bool {
        !self.client.is_closed() && !self.is_read_only.load(Ordering::Acquire) && self.is_newest()
    }

    /// Whether no server on a newer timeline has been seen.
    pub(crate) fn is_newest(&self) -> bool {
        self.timelines.is_newest(self.timeline)
    }

    /// Whether the server's settings were confirmed too long ago. They can change while a connection is open: the standby
    /// goes away, or an operator reloads the configuration.
    pub(crate) fn must_confirm(&self, settings: &DatabaseSettings) -> bool {
        self.confirmed_at.elapsed() >= settings.recheck()
    }

    /// Checks the server's settings again.
    pub(crate) async fn confirm(&mut self, settings: &DatabaseSettings) -> Result<(), DatabaseError> {
        let confirmed = timeout(CONFIRMED_WITHIN, session::confirm(&self.client, settings)).await;
        confirmed.map_err(DatabaseError::unavailable)??;
        self.confirmed_at = now();
        Ok(())
    }

    /// How many warnings the server has sent over this connection.
    pub(crate) fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Acquire)
    }

    /// Connects to one server, sets up the session, and refuses a server or session that is not safe for money, and a database
    /// that does not serve this program. Returns the server's timeline too.
    pub(crate) async fn open(
        host: Host,
        settings: DatabaseSettings,
        purpose: Purpose,
        timelines: Timelines,
    ) -> Result<(Timeline, Self), DatabaseError> {
        let warnings = Arc::new(AtomicU64::new(0));
        let (client, driver) = host.connect(&warnings).await.map_err(DatabaseError::unavailable)?;
        let timeline = session::set_up(&client, &settings, purpose).await?;
        timelines.see(timeline)?;
        schema::check(&client).await?;
        schema::arrive(&client).await?;
        if purpose == Purpose::Rehearsal {
            client.batch_execute("BEGIN").await?;
        }
        let guard = tokio::spawn(leave_former_primary(driver.clone(), timelines.clone(), timeline));
        let connection = Self {
            client: Arc::new(client),
            prepared: Mutex::default(),
            turns: AsyncMutex::default(),
            driver,
            guard: guard.abort_handle(),
            warnings,
            timeline,
            timelines,
            is_read_only: AtomicBool::new(false),
            confirmed_at: now(),
            transaction_commands: purpose.transaction_commands(),
        };
        Ok((timeline, connection))
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.guard.abort();
        self.driver.abort();
    }
}

/// Closes the connection when its server is no longer the primary. A former primary may never answer: its commits wait for
/// a standby that follows another server now.
async fn leave_former_primary(driver: AbortHandle, timelines: Timelines, timeline: Timeline) {
    timelines.superseded(timeline).await;
    driver.abort();
}

/// The address of the settings, with what this program wants of each connection.
pub(crate) fn address(settings: &DatabaseSettings) -> Result<Address, AddressError> {
    let address = Address::parse(settings.database_url.expose_secret())?;
    Ok(address.with(|config| {
        config
            .application_name(settings.application_name.clone())
            .connect_timeout(settings.connect_timeout())
            .tcp_user_timeout(DEAD_PEER)
            .keepalives_idle(DEAD_PEER);
    }))
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
                    } else if notice.message().contains("__diesel_schema_migrations") {
                        // Diesel looks before each migration whether its own table exists.
                        tracing::debug!(message = notice.message(), "the database reports");
                    } else {
                        tracing::info!(message = notice.message(), "the database reports");
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

#[cfg(test)]
mod tests {
    use diesel::{QueryableByName, sql_types::Text};
    use tokio::runtime::Builder;

    use super::address;
    use crate::{
        Connection, Database, DatabaseError, Purpose, Run, session,
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
    async fn a_server_that_acknowledges_commits_without_a_standby_is_refused_if_one_is_required() {
        let mut settings = settings(&migrated());
        settings.require_synchronous_standby = true;
        let refused = connected(settings).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the database setting synchronous_standby_names is \"\" and must be set, because \
             store.require_synchronous_standby is true"
        );
    }

    #[tokio::test]
    async fn a_connection_whose_server_becomes_unsafe_is_not_lent_again() {
        let mut settings = settings(&migrated());
        (settings.pool_size, settings.recheck_ms) = (1, 0);
        let database = connected(settings).await.unwrap();
        let connection = database.get().await.unwrap();
        connection.batch_execute("SET synchronous_commit = off").await.unwrap();
        drop(connection);
        assert_eq!(shown(&database.get().await.unwrap(), "synchronous_commit").await, "on");
    }

    #[tokio::test]
    async fn a_connection_that_turned_read_only_is_not_lent_again() {
        let mut settings = settings(&migrated());
        settings.pool_size = 1;
        let database = connected(settings).await.unwrap();
        let connection = database.get().await.unwrap();
        connection.batch_execute("SET default_transaction_read_only = on").await.unwrap();
        let refused = connection.batch_execute("CREATE TABLE till ()").await.unwrap_err();
        assert!(matches!(refused, DatabaseError::Unavailable { .. }), "{refused:?}");
        drop(connection);
        assert_eq!(shown(&database.get().await.unwrap(), "transaction_read_only").await, "off");
    }

    #[tokio::test]
    async fn a_session_that_a_pooler_gives_to_one_client_after_another_is_refused() {
        let settings = settings(&migrated());
        let address = address(&settings).unwrap();
        let host = address.hosts().first().unwrap();
        let (client, _driver) = host.connect(&std::sync::Arc::default()).await.unwrap();
        session::set_up(&client, &settings, Purpose::General).await.unwrap();
        let refused = session::set_up(&client, &settings, Purpose::General).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the database setting session is \"shared with other clients\" and must be of one client: set pool_mode = \
             session and server_reset_query = DISCARD ALL in PgBouncer"
        );
    }

    #[tokio::test]
    async fn a_program_notices_when_its_second_connection_has_the_session_of_its_first() {
        let (database, local) = database().await;
        database.refuse_shared_sessions().await.unwrap();
        // As if a pooler gave the first session to whatever connects next.
        local.run_sql(&format!("ALTER DATABASE {} SET vendgate.is_set_up = 'yes'", local.name())).unwrap();
        let refused = database.refuse_shared_sessions().await.unwrap_err();
        assert!(matches!(refused, DatabaseError::Setting { name: "session", .. }), "{refused:?}");
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
    async fn no_session_lets_its_statements_be_compiled() {
        let (database, local) = database().await;
        local.run_sql(&format!("ALTER DATABASE {} SET jit = on", local.name())).unwrap();
        for purpose in [Purpose::Money, Purpose::Requests, Purpose::General] {
            let connection = database.another_pool(purpose, 1).get().await.unwrap();
            assert_eq!(shown(&connection, "jit").await, "off", "{purpose:?}");
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
