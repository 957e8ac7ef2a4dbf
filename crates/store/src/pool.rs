//! The connections that are kept ready, in one pool for money and one for everything else.

use std::ops::{Deref, DerefMut};

use deadpool::{
    Runtime,
    managed::{Manager, Metrics, Object, PoolError, RecycleError, RecycleResult, TimeoutType},
};
use diesel_async::AsyncPgConnection;
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::{
    StoreError, StoreSettings,
    connection::{Connection, Purpose},
    measures,
    transaction::Transaction,
};

/// A pool. Clones are handles on the same one.
#[derive(Clone)]
pub(crate) struct Pool {
    connections: deadpool::managed::Pool<Connector>,
    name: &'static str,
    commit_deadline: std::time::Duration,
}

impl Pool {
    /// An empty pool of at most `size` connections, each made when first needed.
    pub(crate) fn new(settings: &StoreSettings, size: usize, purpose: Purpose, engine: &Handle) -> Self {
        let connector = Connector { settings: settings.clone(), purpose, engine: engine.clone() };
        let connections = deadpool::managed::Pool::builder(connector)
            .max_size(size.max(1))
            .wait_timeout(Some(settings.pool_wait()))
            .create_timeout(Some(settings.connect_timeout()))
            .runtime(Runtime::Tokio1)
            .build()
            .expect("a pool with timeouts can be built once it is told its runtime");
        Self { connections, name: purpose.name(), commit_deadline: settings.commit_deadline() }
    }

    /// A connection to read through. What is written through it commits by itself: for writing, use
    /// [`Pool::begin`].
    pub(crate) async fn get(&self) -> Result<PooledConnection, StoreError> {
        let asked = now();
        let got = self.connections.get().await;
        measures::waited_for_connection(self.name, asked.elapsed());
        match got {
            Ok(connection) => Ok(PooledConnection(connection)),
            Err(PoolError::Backend(error)) => Err(error),
            Err(error @ PoolError::Timeout(TimeoutType::Wait)) => {
                Err(StoreError::Busy { source: error.to_string().into() })
            }
            Err(
                error @ (PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle)
                | PoolError::Closed
                | PoolError::NoRuntimeSpecified
                | PoolError::PostCreateHook(_)),
            ) => Err(StoreError::Unavailable { source: error.to_string().into() }),
        }
    }

    /// A connection with a transaction begun on it.
    pub(crate) async fn begin(&self) -> Result<Transaction, StoreError> {
        Transaction::begin(self.get().await?, self.commit_deadline).await
    }
}

/// A connection lent by a pool. It goes back when dropped, and is thrown away there if it broke.
pub(crate) struct PooledConnection(Object<Connector>);

impl PooledConnection {
    /// Closes it instead of giving it back.
    pub(crate) fn discard(self) {
        drop(Object::take(self.0));
    }

    pub(crate) fn warnings(&self) -> u64 {
        self.0.warnings()
    }
}

impl Deref for PooledConnection {
    type Target = AsyncPgConnection;

    fn deref(&self) -> &AsyncPgConnection {
        &self.0
    }
}

impl DerefMut for PooledConnection {
    fn deref_mut(&mut self) -> &mut AsyncPgConnection {
        &mut self.0
    }
}

/// Makes a pool's connections.
struct Connector {
    settings: StoreSettings,
    purpose: Purpose,
    engine: Handle,
}

impl Manager for Connector {
    type Type = Connection;
    type Error = StoreError;

    async fn create(&self) -> Result<Connection, StoreError> {
        Connection::open(&self.settings, self.purpose, &self.engine).await
    }

    async fn recycle(&self, connection: &mut Connection, _: &Metrics) -> RecycleResult<StoreError> {
        if connection.is_usable() { Ok(()) } else { Err(RecycleError::message("the connection broke")) }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "measures a wait inside this room, and reaches no rule of the trade"
)]
fn now() -> Instant {
    Instant::now()
}
