//! A transaction that commits only on request, and that knows what the answer to its commit proves.

use std::{
    ops::Deref,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::time::timeout;

use crate::{Connection, DatabaseError, pool::PooledConnection, writes::Writes};

/// A transaction. End it with [`commit`](Transaction::commit), [`roll_back`](Transaction::roll_back) or
/// [`end`](Transaction::end). If it is dropped without an end, it closes its connection, and the server rolls it back.
#[must_use = "a transaction that is dropped is forgotten"]
#[derive(Debug)]
pub struct Transaction {
    /// `None` once it has ended.
    connection: Option<PooledConnection>,
    deadline: Duration,
    /// Whether the server has answered BEGIN.
    has_begun: AtomicBool,
}

const HELD: &str = "a transaction holds its connection until it ends";

impl Transaction {
    /// Created before BEGIN, so that a connection without an answer to BEGIN is closed and not reused.
    pub(crate) const fn on(connection: PooledConnection, deadline: Duration) -> Self {
        Self { connection: Some(connection), deadline, has_begun: AtomicBool::new(false) }
    }

    /// Begins the transaction. It must be the first statement. Others may be begun while its answer is awaited: they are
    /// sent behind it, in the same round trip, and are part of the transaction. Only reads and locks may be: if this
    /// fails, they ran on their own.
    ///
    /// # Errors
    /// What the server answers, and [`DatabaseError::Unavailable`] if it does not answer in time.
    pub async fn begin(&self) -> Result<(), DatabaseError> {
        let begin = self.transaction_commands().begin;
        timeout(self.deadline, self.batch_execute(begin)).await.map_err(DatabaseError::unavailable)??;
        self.has_begun.store(true, Ordering::Release);
        Ok(())
    }

    /// The end of the transaction, for its writes. They are sent together with the commit.
    pub fn writes(self) -> Writes {
        Writes::of(self)
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// [`DatabaseError::Unacknowledged`] unless it is certain whether the transaction was committed.
    pub async fn commit(self) -> Result<(), DatabaseError> {
        self.writes().commit().await
    }

    /// Rolls the transaction back. If the server does not answer, the connection is closed, and the server rolls back
    /// by itself.
    pub async fn roll_back(mut self) {
        let (deadline, roll_back) = (self.deadline, self.transaction_commands().roll_back);
        if let Ok(Ok(())) = timeout(deadline, self.batch_execute(roll_back)).await {
            self.give_back();
        }
    }

    /// Commits if `outcome` is a result, and rolls back if it is an error.
    pub async fn end<T>(self, outcome: Result<T, DatabaseError>) -> Result<T, DatabaseError> {
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
    pub(crate) fn give_back(&mut self) {
        drop(self.connection.take());
    }

    /// Whether the server has answered BEGIN. Without it, each statement commits by itself.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }

    /// How long the answer to the commit is waited for.
    pub(crate) const fn deadline(&self) -> Duration {
        self.deadline
    }
}

impl Deref for Transaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect(HELD)
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
    use local_postgres::LocalDatabase;

    use crate::{
        Database, DatabaseError, Purpose,
        test_database::{connected, database, migrated, settings},
        timeline::Timeline,
    };

    const WRITE: &str = "INSERT INTO provider_call_counters VALUES ('till', 1, now())";

    fn written(local: &LocalDatabase) -> String {
        local.run_sql("SELECT count(*) FROM provider_call_counters").unwrap()
    }

    async fn becomes_written(local: &LocalDatabase) {
        let clock = clock::SystemClock;
        let started = clock.monotonic();
        while written(local) != "1" {
            let waited = clock.monotonic().elapsed_since(started);
            assert!(waited.as_secs() < 20, "the operation did not finish");
            // The engine of a test runs on this thread, so the wait must not block it.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Makes every commit of a write run `body` first.
    fn at_commit(local: &LocalDatabase, body: &str) {
        let sql = format!(
            "CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN {body}; RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON provider_call_counters
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()"
        );
        local.run_sql(&sql).unwrap();
    }

    async fn write(database: &Database) -> Result<(), DatabaseError> {
        let transaction = database.begin().await?;
        let outcome = transaction.batch_execute(WRITE).await;
        transaction.end(outcome).await
    }

    #[tokio::test]
    async fn what_is_committed_is_kept_and_what_is_rolled_back_or_dropped_is_not() {
        let (database, local) = database().await;
        let dropped = database.begin().await.unwrap();
        dropped.batch_execute(WRITE).await.unwrap();
        drop(dropped);
        let rolled_back = database.begin().await.unwrap();
        rolled_back.batch_execute(WRITE).await.unwrap();
        rolled_back.roll_back().await;
        assert_eq!(written(&local), "0");

        write(&database).await.unwrap();
        assert_eq!(written(&local), "1");
    }

    #[tokio::test]
    async fn a_statement_that_is_sent_right_behind_begin_is_part_of_the_transaction() {
        let (database, local) = database().await;
        let transaction = database.another_pool(Purpose::Money, 1).transaction().await.unwrap();
        tokio::try_join!(biased; transaction.begin(), transaction.batch_execute(WRITE)).unwrap();
        assert_eq!(written(&local), "0");
        transaction.roll_back().await;
        assert_eq!(written(&local), "0");
    }

    #[tokio::test]
    async fn a_commit_after_a_failed_statement_is_an_error_and_not_a_quiet_rollback() {
        let (database, local) = database().await;
        let transaction = database.begin().await.unwrap();
        transaction.batch_execute(WRITE).await.unwrap();
        transaction.batch_execute("SELECT 1 / 0").await.unwrap_err();
        let outcome = transaction.commit().await.unwrap_err();
        assert!(matches!(outcome, DatabaseError::Query { .. }), "{outcome:?}");
        assert!(!outcome.may_be_committed());
        assert_eq!(written(&local), "0");
    }

    #[tokio::test]
    async fn a_commit_whose_answer_does_not_come_is_unacknowledged_and_may_yet_be_kept() {
        let local = migrated();
        at_commit(&local, "PERFORM pg_sleep(1)");
        let mut impatient = settings(&local);
        impatient.commit_deadline_ms = 100;
        let database = connected(impatient).await.unwrap();

        let outcome = write(&database).await.unwrap_err();
        assert!(outcome.may_be_committed(), "{outcome:?}");
        becomes_written(&local).await;
    }

    #[tokio::test]
    async fn an_operation_goes_on_when_its_caller_no_longer_waits() {
        let (database, local) = database().await;
        let busy = database.clone();
        let operation = database.on_engine(async move {
            let transaction = busy.begin().await?;
            transaction.batch_execute("SELECT pg_sleep(0.3)").await?;
            transaction.batch_execute(WRITE).await?;
            transaction.commit().await
        });
        let abandoned = tokio::time::timeout(Duration::from_millis(20), operation).await;
        assert!(abandoned.is_err());
        becomes_written(&local).await;
    }

    #[tokio::test]
    async fn a_commit_that_the_server_warns_about_is_unacknowledged() {
        let local = migrated();
        at_commit(&local, "RAISE WARNING 'canceling wait for synchronous replication'");
        // A session that hears no warnings would take the commit for a durable one.
        local.run_sql(&format!("ALTER DATABASE {} SET client_min_messages = error", local.name())).unwrap();
        let database = connected(settings(&local)).await.unwrap();
        let outcome = write(&database).await.unwrap_err();
        assert!(matches!(outcome, DatabaseError::Unacknowledged { .. }), "{outcome:?}");
    }

    #[tokio::test]
    async fn a_commit_of_a_former_primary_is_unacknowledged_and_its_server_is_left() {
        let (database, _local) = database().await;
        let transaction = database.begin().await.unwrap();
        transaction.batch_execute(WRITE).await.unwrap();
        database.timelines().see(Timeline::of_a_wal_file("0000000B").unwrap()).unwrap();
        let outcome = transaction.commit().await.unwrap_err();
        assert!(matches!(outcome, DatabaseError::Unacknowledged { .. }), "{outcome:?}");
        let left = database.get().await.unwrap_err();
        assert!(left.source().unwrap().to_string().contains("is on timeline 1 and"), "{left:?}");
    }

    #[tokio::test]
    async fn a_commit_that_a_former_primary_does_not_answer_is_given_up_when_another_server_is_promoted() {
        let local = migrated();
        at_commit(&local, "PERFORM pg_sleep(4)");
        let database = connected(settings(&local)).await.unwrap();
        let timelines = database.timelines().clone();
        let promotion = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            timelines.see(Timeline::of_a_wal_file("0000000B").unwrap()).unwrap();
        });
        let outcome = tokio::time::timeout(Duration::from_secs(2), write(&database)).await;
        let outcome = outcome.unwrap().unwrap_err();
        assert!(matches!(outcome, DatabaseError::Unacknowledged { .. }), "{outcome:?}");
        promotion.await.unwrap();
    }

    #[tokio::test]
    async fn a_commit_that_breaks_a_rule_was_certainly_not_kept() {
        let local = migrated();
        at_commit(&local, "RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'");
        let database = connected(settings(&local)).await.unwrap();
        let outcome = write(&database).await.unwrap_err();
        assert!(matches!(outcome, DatabaseError::Rejected { .. }), "{outcome:?}");
        assert!(!outcome.may_be_committed());
    }

    #[tokio::test]
    async fn an_error_tells_no_value_of_the_row() {
        let (database, _local) = database().await;
        let transaction = database.begin().await.unwrap();
        let wrong = "INSERT INTO provider_call_counters VALUES ('a secret', NULL, now())";
        let refused = transaction.batch_execute(wrong).await.unwrap_err();
        let mut told = format!("{refused} {refused:?}");
        let mut cause = refused.source();
        while let Some(error) = cause {
            told = format!("{told} {error} {error:?}");
            cause = error.source();
        }
        assert!(told.contains("next_number") && !told.contains("a secret"), "{told}");
    }

    #[tokio::test]
    async fn a_failure_says_whether_others_or_we_are_to_blame() {
        let local = migrated();
        let mut hasty = settings(&local);
        hasty.lock_timeout_ms = 50;
        let database = connected(hasty).await.unwrap();
        write(&database).await.unwrap();

        let twice = write(&database).await.unwrap_err();
        assert!(
            matches!(&twice, DatabaseError::Duplicate { constraint } if constraint == "provider_call_counters_pkey"),
            "{twice:?}"
        );
        let holder = database.begin().await.unwrap();
        holder.batch_execute("LOCK provider_call_counters IN EXCLUSIVE MODE").await.unwrap();
        let busy = write(&database).await.unwrap_err();
        assert!(matches!(busy, DatabaseError::Busy { .. }), "{busy:?}");
        holder.roll_back().await;
    }

    #[tokio::test]
    async fn a_server_without_space_is_unavailable_and_a_commit_that_finds_none_is_unacknowledged() {
        let local = migrated();
        at_commit(&local, "RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'");
        let database = connected(settings(&local)).await.unwrap();
        let transaction = database.begin().await.unwrap();
        let full = "DO $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'; END $$";
        let refused = transaction.batch_execute(full).await.unwrap_err();
        assert!(matches!(refused, DatabaseError::Unavailable { .. }), "{refused:?}");
        transaction.roll_back().await;
        let outcome = write(&database).await.unwrap_err();
        assert!(matches!(outcome, DatabaseError::Unacknowledged { .. }), "{outcome:?}");
    }

    #[tokio::test]
    async fn a_connection_lost_before_the_commit_kept_nothing_and_is_not_lent_again() {
        let local = migrated();
        let mut small = settings(&local);
        small.pool_size = 1;
        let database = connected(small).await.unwrap();
        let transaction = database.begin().await.unwrap();
        transaction.batch_execute(WRITE).await.unwrap();
        let others = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
                      WHERE datname = current_database() AND pid <> pg_backend_pid()";
        local.run_sql(others).unwrap();

        let lost = transaction.batch_execute("SELECT 1").await.unwrap_err();
        assert!(matches!(lost, DatabaseError::Unavailable { .. }), "{lost:?} {:?}", lost.source());
        drop(transaction);
        write(&database).await.unwrap();
        assert_eq!(written(&local), "1");

        local.run_sql(others).unwrap();
        // A caller may get the dead connection before its loss is noticed, but at most once.
        let mut lent_dead = 0;
        while database.get().await.unwrap().batch_execute("SELECT 1").await.is_err() {
            lent_dead += 1;
            assert_eq!(lent_dead, 1);
        }
    }

    #[tokio::test]
    async fn a_connection_lost_while_committing_is_unacknowledged() {
        let local = migrated();
        at_commit(&local, "PERFORM pg_terminate_backend(pg_backend_pid())");
        let database = connected(settings(&local)).await.unwrap();
        let outcome = write(&database).await.unwrap_err();
        assert!(matches!(outcome, DatabaseError::Unacknowledged { .. }), "{outcome:?}");
    }

    #[tokio::test]
    async fn an_operation_that_finds_no_free_connection_is_told_so_in_time() {
        let local = migrated();
        let mut small = settings(&local);
        (small.pool_size, small.pool_wait_ms) = (1, 50);
        let database = connected(small).await.unwrap();
        let _held = database.begin().await.unwrap();
        assert!(matches!(database.get().await.err(), Some(DatabaseError::Busy { .. })));
    }
}
