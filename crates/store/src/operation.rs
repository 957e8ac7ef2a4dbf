//! The shape of an ordinary operation: one transaction that is kept if it succeeds, or one look that writes nothing.

use std::pin::Pin;

use diesel_async::AsyncPgConnection;

use crate::{Store, StoreError, transaction::Transaction};

/// What is done on a connection that is lent for it.
pub(crate) type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

impl Store {
    /// Does `work` in one transaction on the engine, and keeps all of it or nothing.
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

    /// Reads on the engine. Nothing may be written so: it would commit by itself.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a mut AsyncPgConnection) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        self.on_engine(async move { work(&mut *store.general.get().await?).await }).await
    }

    /// Runs one statement on the engine that commits by itself. Only for what may be lost without harm: whether a standby
    /// has it is not asked.
    pub(crate) async fn write_alone<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a mut AsyncPgConnection) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        self.on_engine(async move { work(&mut *store.general.get().await?).await }).await
    }
}
