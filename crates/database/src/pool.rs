//! A pool of connections.

use std::{fmt, ops::Deref};

use deadpool::{
    Runtime,
    managed::{Manager, Metrics, Object, PoolError, RecycleError, RecycleResult, TimeoutType},
};
use tokio::runtime::Handle;

use crate::{
    DatabaseError, DatabaseSettings,
    address::Address,
    connection::Connection,
    measures::{self, now},
    primary,
    purpose::Purpose,
    timeline::Timelines,
    transaction::Transaction,
};

/// A pool. Clones are handles to the same pool.
#[derive(Clone)]
pub struct Pool {
    connections: deadpool::managed::Pool<Connector>,
    name: &'static str,
    commit_deadline: std::time::Duration,
}

impl Pool {
    /// An empty pool of at most `size` connections. Each is opened when first needed.
    pub(crate) fn new(
        address: &Address,
        settings: &DatabaseSettings,
        size: usize,
        purpose: Purpose,
        timelines: &Timelines,
        engine: &Handle,
    ) -> Self {
        let connector = Connector {
            address: address.clone(),
            settings: settings.clone(),
            purpose,
            timelines: timelines.clone(),
            engine: engine.clone(),
        };
        let connections = deadpool::managed::Pool::builder(connector)
            .max_size(size.max(1))
            .wait_timeout(Some(settings.pool_wait()))
            .runtime(Runtime::Tokio1)
            .build()
            .expect("a pool with timeouts can be built once it has a runtime");
        Self { connections, name: purpose.name(), commit_deadline: settings.commit_deadline() }
    }

    /// A connection for reads. A write through it commits by itself. To write, use [`Pool::begin`].
    pub async fn get(&self) -> Result<PooledConnection, DatabaseError> {
        let asked = now();
        let got = self.connections.get().await;
        measures::waited_for_connection(self.name, asked.elapsed());
        match got {
            Ok(connection) => Ok(PooledConnection(connection)),
            Err(PoolError::Backend(error)) => Err(error),
            Err(error @ PoolError::Timeout(TimeoutType::Wait)) => {
                Err(DatabaseError::Busy { source: error.to_string().into() })
            }
            Err(
                error @ (PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle)
                | PoolError::Closed
                | PoolError::NoRuntimeSpecified
                | PoolError::PostCreateHook(_)),
            ) => Err(DatabaseError::Unavailable { source: error.to_string().into() }),
        }
    }

    /// A connection for a transaction, which its caller [begins](Transaction::begin).
    pub async fn transaction(&self) -> Result<Transaction, DatabaseError> {
        Ok(Transaction::on(self.get().await?, self.commit_deadline))
    }

    /// A connection with an open transaction.
    pub async fn begin(&self) -> Result<Transaction, DatabaseError> {
        let transaction = self.transaction().await?;
        transaction.begin().await?;
        Ok(transaction)
    }
}

/// A connection from a pool. When dropped, it returns to the pool, which discards it if it is broken.
pub struct PooledConnection(Object<Connector>);

impl PooledConnection {
    /// Closes it instead of returning it.
    pub(crate) fn discard(self) {
        drop(Object::take(self.0));
    }
}

impl Deref for PooledConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

impl fmt::Debug for PooledConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

/// Opens a pool's connections.
struct Connector {
    address: Address,
    settings: DatabaseSettings,
    purpose: Purpose,
    timelines: Timelines,
    engine: Handle,
}

impl Manager for Connector {
    type Type = Connection;
    type Error = DatabaseError;

    async fn create(&self) -> Result<Connection, DatabaseError> {
        let (settings, purpose, timelines) = (self.settings.clone(), self.purpose, self.timelines.clone());
        let open = move |host| Connection::open(host, settings.clone(), purpose, timelines.clone());
        // Boxed, because it is rare, and would otherwise be part of every operation.
        Box::pin(primary::connect(&self.address, self.settings.connect_timeout(), &self.engine, open)).await
    }

    async fn recycle(&self, connection: &mut Connection, _: &Metrics) -> RecycleResult<DatabaseError> {
        if !connection.is_usable() {
            return Err(RecycleError::message("the connection broke, or no longer leads to the primary"));
        }
        if connection.must_confirm(&self.settings) {
            Box::pin(connection.confirm(&self.settings)).await?;
        }
        Ok(())
    }
}
