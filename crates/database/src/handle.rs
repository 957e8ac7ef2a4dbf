//! The handle to a database, and the forms of an operation on it: a transaction, a read, or a write that may be lost.

use std::{fmt, pin::Pin, sync::Arc};

use tokio::{runtime::Handle, time::timeout};

use crate::{
    Connection, DatabaseError, DatabaseSettings, Pool, PooledConnection, Purpose, Transaction,
    address::Address, connection, primary::Lookout, schema, timeline::Timelines,
};

/// Work that is done on a borrowed connection.
pub type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, DatabaseError>> + Send + 'a>>;

/// A database, and a pool of connections to it. Clones are handles to the same ones.
#[derive(Clone)]
pub struct Database {
    pool: Pool,
    address: Arc<Address>,
    settings: Arc<DatabaseSettings>,
    purpose: Purpose,
    timelines: Timelines,
    _lookout: Arc<Lookout>,
    engine: Handle,
}

impl Database {
    /// Connects, and checks that the database is safe for money and serves this program. Every connection lives on
    /// `engine`. A [rehearsal](Purpose::Rehearsal) has one connection, so that its operations see each other.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`], [`DatabaseError::Setting`], [`DatabaseError::Schema`] or
    /// [`DatabaseError::ProgramTooOld`].
    pub async fn connect(
        settings: DatabaseSettings,
        purpose: Purpose,
        engine: Handle,
    ) -> Result<Self, DatabaseError> {
        let address = connection::address(&settings).map_err(DatabaseError::unavailable)?;
        let timelines = Timelines::default();
        let size = if purpose == Purpose::Rehearsal { 1 } else { settings.pool_size };
        let pool = Pool::new(&address, &settings, size, purpose, &timelines, &engine);
        let lookout = Arc::new(Lookout::begin(&address, &timelines, &engine));
        let (address, settings) = (Arc::new(address), Arc::new(settings));
        let database = Self { pool, address, settings, purpose, timelines, _lookout: lookout, engine };
        drop(database.get().await?);
        Ok(database)
    }

    /// Refuses a pooler that gives a session to one client after another: of two connections, the second gets the session of the
    /// first, and notices it. A program that runs for long asks this when it starts. Any other program has one connection at a
    /// time, and notices the session of another client.
    ///
    /// # Errors
    /// [`DatabaseError::Setting`], and what opening a connection may answer.
    pub async fn refuse_shared_sessions(&self) -> Result<(), DatabaseError> {
        drop((self.get().await?, self.another_pool(self.purpose, 1).get().await?));
        Ok(())
    }

    /// Another pool of connections to the same database, so that other operations cannot take them all. That of a rehearsal keeps
    /// nothing either.
    pub fn another_pool(&self, purpose: Purpose, size: usize) -> Pool {
        let purpose = if self.purpose == Purpose::Rehearsal { Purpose::Rehearsal } else { purpose };
        Pool::new(&self.address, &self.settings, size, purpose, &self.timelines, &self.engine)
    }

    /// The same database through another pool.
    #[must_use]
    pub fn through(&self, pool: Pool) -> Self {
        Self { pool, ..self.clone() }
    }

    /// What it was connected for.
    pub const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// The settings with which it was connected.
    pub fn settings(&self) -> &DatabaseSettings {
        &self.settings
    }

    #[cfg(test)]
    pub(crate) fn timelines(&self) -> &Timelines {
        &self.timelines
    }

    /// The runtime on which the connections live.
    pub fn engine(&self) -> &Handle {
        &self.engine
    }

    /// A connection for reads. A write through it commits by itself. To write, use [`Database::begin`].
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] if all connections are in use, and what opening a connection may answer.
    pub async fn get(&self) -> Result<PooledConnection, DatabaseError> {
        self.pool.get().await
    }

    /// A connection with an open transaction.
    ///
    /// # Errors
    /// Like [`Database::get`].
    pub async fn begin(&self) -> Result<Transaction, DatabaseError> {
        self.pool.begin().await
    }

    /// A connection for a transaction, which its caller [begins](Transaction::begin).
    ///
    /// # Errors
    /// Like [`Database::get`].
    pub async fn transaction(&self) -> Result<Transaction, DatabaseError> {
        self.pool.transaction().await
    }

    /// Checks that the database answers and serves this program.
    ///
    /// # Errors
    /// [`DatabaseError::Schema`] if it lacks a migration of this program, and [`DatabaseError::ProgramTooOld`] if a migration
    /// has ended it.
    pub async fn check_schema(&self) -> Result<(), DatabaseError> {
        self.read(|connection| Box::pin(async { schema::check(connection.client()).await.map(drop) })).await
    }

    /// Runs an operation on the engine, where a caller that goes away cannot abort it, and waits for its result.
    ///
    /// # Errors
    /// [`DatabaseError::Unacknowledged`] if the operation takes longer than the settings allow, and its own errors.
    pub async fn on_engine<T: Send + 'static>(
        &self,
        operation: impl Future<Output = Result<T, DatabaseError>> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let deadline = self.settings.operation_deadline();
        let task = self.engine.spawn(async move {
            let outcome = timeout(deadline, operation).await;
            outcome.unwrap_or_else(|elapsed| Err(DatabaseError::Unacknowledged { source: elapsed.into() }))
        });
        task.await.map_err(|source| DatabaseError::Lost { source })?
    }

    /// Runs `work` in one transaction on the engine. Commits all of it or nothing.
    ///
    /// # Errors
    /// Those of `work` and of [`Transaction::commit`].
    pub async fn operate<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a Transaction) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        self.operate_or_rehearse(false, work).await
    }

    /// As [`Database::operate`]. A rehearsal is rolled back: everything is checked, and nothing is kept.
    ///
    /// # Errors
    /// Those of `work`, and of [`Transaction::commit`] unless it is a rehearsal.
    pub async fn operate_or_rehearse<T: Send + 'static>(
        &self,
        is_rehearsal: bool,
        work: impl for<'a> FnOnce(&'a Transaction) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let pool = self.pool.clone();
        self.on_engine(async move {
            let transaction = pool.begin().await?;
            let outcome = work(&transaction).await;
            if is_rehearsal {
                transaction.roll_back().await;
                return outcome;
            }
            transaction.end(outcome).await
        })
        .await
    }

    /// Reads on the engine. Do not write here: a write would commit by itself.
    ///
    /// # Errors
    /// Those of `work`, and those of [`Database::get`].
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a Connection) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let pool = self.pool.clone();
        self.on_engine(async move { work(&*pool.get().await?).await }).await
    }

    /// Runs one statement on the engine that commits by itself. Use it only for a write that may be lost without harm:
    /// it does not check whether a standby has it.
    ///
    /// # Errors
    /// Those of `work`, and those of [`Database::get`].
    pub async fn write_alone<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a Connection) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        self.read(work).await
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("settings", &self.settings).finish_non_exhaustive()
    }
}
