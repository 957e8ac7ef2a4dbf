//! Whether this store can do its work now.

use database::DatabaseError;

use crate::Store;

impl Store {
    /// Checks that the database answers and serves this program, and that the lanes run.
    ///
    /// # Errors
    /// Those of [`Database::check_schema`](database::Database::check_schema). [`DatabaseError::Stopped`] if a lane has ended,
    /// which is a defect. Other errors if the database does not answer.
    pub async fn check_health(&self) -> Result<(), DatabaseError> {
        if !self.lanes.all_run() {
            return Err(DatabaseError::Stopped);
        }
        self.database.check_schema().await
    }
}
