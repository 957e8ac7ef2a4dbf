//! Whether this store can do its work now.

use diesel_async::AsyncPgConnection;

use crate::{Store, StoreError, migrate};

impl Store {
    /// Checks that the database answers and has this program's schema, and that the lanes run.
    ///
    /// # Errors
    /// [`StoreError::Schema`] if the database was migrated meanwhile. [`StoreError::Stopped`] if a lane has ended,
    /// which is a defect. Other errors if the database does not answer.
    pub async fn check_health(&self) -> Result<(), StoreError> {
        if !self.lanes.all_run() {
            return Err(StoreError::Stopped);
        }
        self.read(|connection: &mut AsyncPgConnection| Box::pin(migrate::check_schema(connection))).await
    }
}
