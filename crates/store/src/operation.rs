//! The form of an ordinary operation: one transaction that commits if it succeeds, or one read that writes nothing.

use std::pin::Pin;

use diesel_async::AsyncPgConnection;

use crate::{Store, StoreError, transaction::Transaction};

/// Work that is done on a borrowed connection.
pub(crate) type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

impl Store {
    /// Runs `work` in one transaction on the engine. Commits all of it or nothing.
    pub(crate) async fn operate<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a mut Transaction) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        self.on_engine(async move {
            let mut transaction = store.general.begin().await?;
            let outcome = work(&mut transaction).await;
            transaction.end(outcome).await
        })
        .await
    }

    /// Reads on the engine. Do not write here: a write would commit by itself.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a mut AsyncPgConnection) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        self.on_engine(async move { work(&mut *store.general.get().await?).await }).await
    }

    /// Runs one statement on the engine that commits by itself. Use it only for a write that may be lost without harm:
    /// it does not check whether a standby has it.
    pub(crate) async fn write_alone<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a mut AsyncPgConnection) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        self.on_engine(async move { work(&mut *store.general.get().await?).await }).await
    }
}
