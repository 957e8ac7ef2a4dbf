//! A transaction that commits only on request, and that knows what the answer to its commit proves.

use std::{
    ops::{Deref, DerefMut},
    time::Duration,
};

use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use tokio::time::timeout;

use crate::{
    StoreError,
    error::{Phase, classify},
    pool::PooledConnection,
};

/// An open transaction. End it with [`commit`](Transaction::commit), [`roll_back`](Transaction::roll_back) or
/// [`end`](Transaction::end). If it is dropped without an end, it closes its connection, and the server rolls it back.
///
/// Do not use Diesel's own `transaction` inside: Diesel does not know that this transaction has begun.
#[must_use = "a transaction that is dropped is forgotten"]
pub(crate) struct Transaction {
    /// `None` once it has ended.
    connection: Option<PooledConnection>,
    deadline: Duration,
}

const HELD: &str = "a transaction holds its connection until it ends";

impl Transaction {
    pub(crate) async fn begin(connection: PooledConnection, deadline: Duration) -> Result<Self, StoreError> {
        // Created before BEGIN, so that a connection without an answer to BEGIN is closed and not reused.
        let mut transaction = Self { connection: Some(connection), deadline };
        let begun = timeout(deadline, transaction.batch_execute("BEGIN")).await;
        begun.map_err(|elapsed| StoreError::Unavailable { source: elapsed.into() })??;
        Ok(transaction)
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// [`StoreError::Unacknowledged`] unless it is certain whether the transaction was committed.
    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        let (deadline, warnings) = (self.deadline, self.warnings());
        // After a failed statement, the server answers COMMIT with a silent ROLLBACK. The SELECT before it, in the same
        // message, then fails with an error.
        match timeout(deadline, self.batch_execute("SELECT; COMMIT")).await {
            Ok(Ok(())) if self.warnings() == warnings => {
                self.give_back();
                Ok(())
            }
            Ok(Ok(())) => {
                Err(StoreError::Unacknowledged { source: "the server warned about the commit".into() })
            }
            Ok(Err(error)) => Err(classify(error, Phase::Commit)),
            Err(elapsed) => Err(StoreError::Unacknowledged { source: elapsed.into() }),
        }
    }

    /// Rolls the transaction back. If the server does not answer, the connection is closed, and the server rolls back
    /// by itself.
    pub(crate) async fn roll_back(mut self) {
        let deadline = self.deadline;
        if let Ok(Ok(())) = timeout(deadline, self.batch_execute("ROLLBACK")).await {
            self.give_back();
        }
    }

    /// Commits if `outcome` is a result, and rolls back if it is an error.
    pub(crate) async fn end<T>(self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        match outcome {
            Ok(result) => self.commit().await.map(|()| result),
            Err(error) => {
                self.roll_back().await;
                Err(error)
            }
        }
    }
}

impl Transaction {
    /// Returns the connection to its pool. Call it only when the transaction is known to have ended.
    fn give_back(&mut self) {
        drop(self.connection.take());
    }

    fn warnings(&self) -> u64 {
        self.connection.as_ref().map_or(0, PooledConnection::warnings)
    }
}

impl Deref for Transaction {
    type Target = AsyncPgConnection;

    fn deref(&self) -> &AsyncPgConnection {
        self.connection.as_ref().expect(HELD)
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut AsyncPgConnection {
        self.connection.as_mut().expect(HELD)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.discard();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{error::Error, time::Duration};

    use clock::Clock;
    use diesel_async::SimpleAsyncConnection;

    use crate::{
        Store, StoreError,
        test_database::{migrated, settings, store, store_with},
    };

    const WRITE: &str = "INSERT INTO provider_call_counters VALUES ('till', 1, now())";

    fn written(database: &local_postgres::Database) -> String {
        database.run_sql("SELECT count(*) FROM provider_call_counters").unwrap()
    }

    async fn becomes_written(database: &local_postgres::Database) {
        let clock = clock::SystemClock;
        let started = clock.monotonic();
        while written(database) != "1" {
            let waited = clock.monotonic().elapsed_since(started);
            assert!(waited.as_secs() < 20, "the operation did not finish");
            // The engine of a test runs on this thread, so the wait must not block it.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Makes every commit of a write run `body` first.
    fn at_commit(database: &local_postgres::Database, body: &str) {
        let sql = format!(
            "CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN {body}; RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON provider_call_counters
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()"
        );
        database.run_sql(&sql).unwrap();
    }

    async fn write(store: &Store) -> Result<(), StoreError> {
        let mut transaction = store.general.begin().await?;
        let outcome = transaction.batch_execute(WRITE).await;
        transaction.end(outcome.map_err(StoreError::from)).await
    }

    #[tokio::test]
    async fn what_is_committed_is_kept_and_what_is_rolled_back_or_dropped_is_not() {
        let (store, database) = store().await;
        let mut dropped = store.general.begin().await.unwrap();
        dropped.batch_execute(WRITE).await.unwrap();
        drop(dropped);
        let mut rolled_back = store.general.begin().await.unwrap();
        rolled_back.batch_execute(WRITE).await.unwrap();
        rolled_back.roll_back().await;
        assert_eq!(written(&database), "0");

        write(&store).await.unwrap();
        assert_eq!(written(&database), "1");
    }

    #[tokio::test]
    async fn a_commit_after_a_failed_statement_is_an_error_and_not_a_quiet_rollback() {
        let (store, database) = store().await;
        let mut transaction = store.general.begin().await.unwrap();
        transaction.batch_execute(WRITE).await.unwrap();
        transaction.batch_execute("SELECT 1 / 0").await.unwrap_err();
        let outcome = transaction.commit().await.unwrap_err();
        assert!(matches!(outcome, StoreError::Query { .. }), "{outcome:?}");
        assert!(!outcome.may_have_been_kept());
        assert_eq!(written(&database), "0");
    }

    #[tokio::test]
    async fn a_commit_whose_answer_does_not_come_is_unacknowledged_and_may_yet_be_kept() {
        let database = migrated();
        at_commit(&database, "PERFORM pg_sleep(1)");
        let mut impatient = settings(&database);
        impatient.commit_deadline_ms = 100;
        let store = store_with(impatient).await.unwrap();

        let outcome = write(&store).await.unwrap_err();
        assert!(outcome.may_have_been_kept(), "{outcome:?}");
        becomes_written(&database).await;
    }

    #[tokio::test]
    async fn an_operation_goes_on_when_its_caller_no_longer_waits() {
        let (store, database) = store().await;
        let busy = store.clone();
        let operation = store.on_engine(async move {
            let mut transaction = busy.general.begin().await?;
            transaction.batch_execute("SELECT pg_sleep(0.3)").await?;
            transaction.batch_execute(WRITE).await?;
            transaction.commit().await
        });
        let abandoned = tokio::time::timeout(Duration::from_millis(20), operation).await;
        assert!(abandoned.is_err());
        becomes_written(&database).await;
    }

    #[tokio::test]
    async fn a_commit_that_the_server_warns_about_is_unacknowledged() {
        let database = migrated();
        at_commit(&database, "RAISE WARNING 'canceling wait for synchronous replication'");
        let store = store_with(settings(&database)).await.unwrap();
        let outcome = write(&store).await.unwrap_err();
        assert!(matches!(outcome, StoreError::Unacknowledged { .. }), "{outcome:?}");
    }

    #[tokio::test]
    async fn a_commit_that_breaks_a_rule_was_certainly_not_kept() {
        let database = migrated();
        at_commit(&database, "RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'");
        let store = store_with(settings(&database)).await.unwrap();
        let outcome = write(&store).await.unwrap_err();
        assert!(matches!(outcome, StoreError::Rejected { .. }), "{outcome:?}");
        assert!(!outcome.may_have_been_kept());
    }

    #[tokio::test]
    async fn a_failure_says_whether_others_or_we_are_to_blame() {
        let database = migrated();
        let mut hasty = settings(&database);
        hasty.lock_timeout_ms = 50;
        let store = store_with(hasty).await.unwrap();
        write(&store).await.unwrap();

        let twice = write(&store).await.unwrap_err();
        assert!(
            matches!(&twice, StoreError::Duplicate { constraint } if constraint == "provider_call_counters_pkey"),
            "{twice:?}"
        );
        let mut holder = store.general.begin().await.unwrap();
        holder.batch_execute("LOCK provider_call_counters IN EXCLUSIVE MODE").await.unwrap();
        let busy = write(&store).await.unwrap_err();
        assert!(matches!(busy, StoreError::Busy { .. }), "{busy:?}");
        holder.roll_back().await;
    }

    #[tokio::test]
    async fn a_connection_lost_before_the_commit_kept_nothing_and_is_not_lent_again() {
        let database = migrated();
        let mut small = settings(&database);
        small.pool_size = 1;
        let store = store_with(small).await.unwrap();
        let mut transaction = store.general.begin().await.unwrap();
        transaction.batch_execute(WRITE).await.unwrap();
        let others = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
                      WHERE datname = current_database() AND pid <> pg_backend_pid()";
        database.run_sql(others).unwrap();

        let lost = transaction.batch_execute("SELECT 1").await.map_err(StoreError::from).unwrap_err();
        assert!(matches!(lost, StoreError::Unavailable { .. }), "{lost:?} {:?}", lost.source());
        drop(transaction);
        write(&store).await.unwrap();
        assert_eq!(written(&database), "1");

        database.run_sql(others).unwrap();
        // A caller may get the dead connection before its loss is noticed, but at most once.
        let mut lent_dead = 0;
        while store.general.get().await.unwrap().batch_execute("SELECT 1").await.is_err() {
            lent_dead += 1;
            assert_eq!(lent_dead, 1);
        }
    }

    #[tokio::test]
    async fn a_connection_lost_while_committing_is_unacknowledged() {
        let database = migrated();
        at_commit(&database, "PERFORM pg_terminate_backend(pg_backend_pid())");
        let store = store_with(settings(&database)).await.unwrap();
        let outcome = write(&store).await.unwrap_err();
        assert!(matches!(outcome, StoreError::Unacknowledged { .. }), "{outcome:?}");
    }

    #[tokio::test]
    async fn an_operation_that_finds_no_free_connection_is_told_so_in_time() {
        let database = migrated();
        let mut small = settings(&database);
        (small.pool_size, small.pool_wait_ms) = (1, 50);
        let store = store_with(small).await.unwrap();
        let _held = store.general.begin().await.unwrap();
        assert!(matches!(store.general.get().await.err(), Some(StoreError::Busy { .. })));
    }
}
