//! One connection that this program trusts: opened on the engine, with its settings applied and checked.
//!
//! This crate drives the connection itself, instead of diesel-async, for two reasons. A connection dies with the
//! runtime that drives it, so that runtime must be the engine, whichever caller asks. And the server may acknowledge a
//! commit with only a warning that no standby has it, and diesel-async drops warnings.

use std::{
    future,
    ops::{Deref, DerefMut},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use diesel_async::{AsyncPgConnection, pooled_connection::PoolableConnection};
use secrecy::ExposeSecret;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Handle,
    task::AbortHandle,
};
use tokio_postgres::{AsyncMessage, Client, SimpleQueryMessage, SimpleQueryRow, Socket, error::Severity};

use crate::{
    StoreError, StoreSettings,
    address::{Address, AddressError},
};

/// How long a peer may leave bytes unacknowledged, or an idle connection unproven, before it counts as dead.
const DEAD_PEER: Duration = Duration::from_secs(10);

/// The oldest Postgres that this program runs on.
const OLDEST_VERSION: u32 = 150_000;

/// A connection and the task that drives it. Dropping it closes the socket at once and never sends a cancel. A cancel
/// could turn a commit that waits for its standby into one that no standby has.
pub(crate) struct Connection {
    inner: AsyncPgConnection,
    driver: AbortHandle,
    warnings: Arc<AtomicU64>,
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The lanes: few statements. Each finds its rows by an index, whatever the planner assumes about tables that were
    /// empty when it looked.
    Money,
    /// Everything else.
    General,
}

impl Purpose {
    /// The name of its pool in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Money => "money",
            Self::General => "general",
        }
    }

    const fn session(self) -> &'static str {
        match self {
            Self::Money => {
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
        settings: &StoreSettings,
        purpose: Purpose,
        engine: &Handle,
    ) -> Result<Self, StoreError> {
        let (address, settings) = (address.clone(), settings.clone());
        let opened = engine.spawn(async move { Self::open_here(&address, &settings, purpose).await });
        opened.await.map_err(|source| StoreError::Unavailable { source: source.into() })?
    }

    /// Whether it may be reused: it is alive and in no transaction.
    pub(crate) fn is_usable(&mut self) -> bool {
        !PoolableConnection::is_broken(&mut self.inner)
    }

    /// How many warnings the server has sent over this connection.
    pub(crate) fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Acquire)
    }

    async fn open_here(
        address: &Address,
        settings: &StoreSettings,
        purpose: Purpose,
    ) -> Result<Self, StoreError> {
        let warnings = Arc::new(AtomicU64::new(0));
        let (client, driver) = address.connect(&warnings).await.map_err(unavailable)?;
        set_up(&client, settings, purpose).await?;
        let inner = AsyncPgConnection::try_from(client).await.map_err(unavailable)?;
        Ok(Self { inner, driver, warnings })
    }
}

impl Deref for Connection {
    type Target = AsyncPgConnection;

    fn deref(&self) -> &AsyncPgConnection {
        &self.inner
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut AsyncPgConnection {
        &mut self.inner
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// The address of the settings, with what this program wants of each connection.
pub(crate) fn address(settings: &StoreSettings) -> Result<Address, AddressError> {
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
async fn set_up(client: &Client, settings: &StoreSettings, purpose: Purpose) -> Result<(), StoreError> {
    let sql = format!(
        "SET lock_timeout = {lock}; SET statement_timeout = {statement};
         SET idle_in_transaction_session_timeout = {idle}; SET client_connection_check_interval = 0;
         SET default_transaction_isolation = 'read committed'; {session}
         SELECT current_setting('server_version_num') AS version,
                current_setting('synchronous_commit') AS synchronous_commit,
                current_setting('transaction_read_only') AS read_only,
                current_setting('lc_messages') AS messages",
        session = purpose.session(),
        lock = settings.lock_timeout_ms,
        statement = settings.statement_timeout_ms,
        idle = settings.idle_in_transaction_timeout_ms,
    );
    let answers = client.simple_query(&sql).await.map_err(unavailable)?;
    let row = answers
        .into_iter()
        .find_map(|answer| if let SimpleQueryMessage::Row(row) = answer { Some(row) } else { None });
    let row = row.ok_or_else(|| StoreError::Unavailable { source: "no answer about settings".into() })?;
    check("server_version_num", &row, "version", "150000 or later", |value| {
        value.parse().is_ok_and(|version: u32| version >= OLDEST_VERSION)
    })?;
    check("synchronous_commit", &row, "synchronous_commit", "on", |value| value != "off")?;
    check("transaction_read_only", &row, "read_only", "off", |value| value == "off")?;
    check("lc_messages", &row, "messages", "C or English", |value| {
        value == "POSIX"
            || value == "C"
            || value.starts_with("C.")
            || value.starts_with("en")
            || value.starts_with("English")
    })
}

fn check(
    name: &'static str,
    row: &SimpleQueryRow,
    column: &str,
    required: &'static str,
    holds: impl FnOnce(&str) -> bool,
) -> Result<(), StoreError> {
    let value = row.get(column).unwrap_or_default();
    if holds(value) { Ok(()) } else { Err(StoreError::Setting { name, value: value.to_owned(), required }) }
}

fn unavailable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Unavailable { source: source.into() }
}

#[cfg(test)]
mod tests {
    use diesel::{QueryableByName, sql_types::Text};
    use diesel_async::RunQueryDsl;
    use purchase::Timing;
    use tokio::runtime::Builder;

    use crate::{
        Store, StoreError,
        test_database::{keys, migrated, settings, store, store_with},
    };

    #[derive(QueryableByName)]
    struct Shown {
        #[diesel(sql_type = Text)]
        value: String,
    }

    async fn shown(store: &Store, setting: &str) -> String {
        let mut connection = store.money.get().await.unwrap();
        let query = diesel::sql_query(format!("SELECT current_setting('{setting}') AS value"));
        query.get_result::<Shown>(&mut connection).await.unwrap().value
    }

    #[tokio::test]
    async fn a_session_that_would_not_wait_for_the_disk_is_refused() {
        let database = migrated();
        let name = database.name();
        database.run_sql(&format!("ALTER DATABASE {name} SET synchronous_commit = off")).unwrap();
        let refused = store_with(settings(&database)).await.unwrap_err();
        assert_eq!(refused.to_string(), "the database setting synchronous_commit is \"off\" and must be on");
    }

    #[tokio::test]
    async fn a_database_that_cannot_be_written_is_refused() {
        let database = migrated();
        let name = database.name();
        database.run_sql(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).unwrap();
        let refused = store_with(settings(&database)).await.unwrap_err();
        assert!(matches!(refused, StoreError::Setting { name: "transaction_read_only", .. }), "{refused}");
    }

    #[tokio::test]
    async fn every_session_has_its_limits_and_an_application_name() {
        let (store, _database) = store().await;
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
            assert_eq!(shown(&store, setting).await, value, "{setting}");
        }
    }

    #[tokio::test]
    async fn a_database_that_is_not_there_is_unavailable() {
        let mut nowhere = settings(&migrated());
        nowhere.database_url = "postgres://nobody:nothing@127.0.0.1:1/nowhere".into();
        assert!(matches!(store_with(nowhere).await, Err(StoreError::Unavailable { .. })));
    }

    #[test]
    fn a_connection_outlives_the_runtime_that_asked_for_it() {
        let engine = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let asking = || Builder::new_current_thread().enable_all().build().unwrap();
        let settings = settings(&migrated());
        let connecting = Store::connect(settings, keys(), Timing::default(), engine.handle().clone());
        let store = asking().block_on(connecting).unwrap();

        let before = asking().block_on(async { shown(&store, "server_version_num").await });
        let after = asking().block_on(async { shown(&store, "server_version_num").await });
        assert_eq!(before, after);
    }
}
