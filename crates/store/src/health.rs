//! Whether this store can do its work now.

use diesel_async::AsyncPgConnection;

use crate::{Store, StoreError, migrate};

impl Store {
    /// Asks the database whether it is there, and of this program's schema; and the lanes whether they run.
    ///
    /// # Errors
    /// [`StoreError::Schema`] when somebody has migrated the database meanwhile, [`StoreError::Stopped`] when a lane has
    /// ended, which is a defect, and others when the database does not answer.
    pub async fn check_health(&self) -> Result<(), StoreError> {
        if !self.lanes.all_run() {
            return Err(StoreError::Stopped);
        }
        self.read(|connection: &mut AsyncPgConnection| Box::pin(migrate::check_schema(connection))).await
    }
}
