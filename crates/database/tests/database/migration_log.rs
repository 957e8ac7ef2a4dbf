//! What an operator reads while migrations are applied.

use database::migrate;
use local_postgres::LocalPostgres;
use test_kit::log::Log;
use tracing::Level;

#[tokio::test]
async fn a_migration_log_has_the_notices_of_the_migrations_and_not_those_of_diesel() {
    let database = LocalPostgres::shared().create_database("empty").unwrap();
    let (log, _captured) = Log::of_this_thread(Level::INFO);
    migrate(&database.url().into()).await.unwrap();
    assert!(!log.lines_with(&["the database reports", "purchases_due_by_organisation"]).is_empty());
    assert_eq!(log.lines_with(&["__diesel_schema_migrations"]).len(), 0);
}
