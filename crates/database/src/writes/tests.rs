//! What is kept, and what is told, of writes that travel with their commit.

use diesel::sql_types::Text;
use local_postgres::LocalDatabase;

use super::Writes;
use crate::{
    Database, DatabaseError, Purpose, Statement, prepared,
    test_database::{connected, database, migrated, settings},
};

struct Count;

impl Statement for Count {
    const SQL: &str = "INSERT INTO provider_call_counters VALUES ($1, 1, now())";
}

struct CountNothing;

impl Statement for CountNothing {
    const SQL: &str = "INSERT INTO provider_call_counters VALUES ($1, NULL, now())";
}

struct CountElsewhere;

impl Statement for CountElsewhere {
    const SQL: &str = "INSERT INTO counters_of_nowhere VALUES ($1)";
}

struct EndSession;

impl Statement for EndSession {
    const SQL: &str = "SELECT pg_terminate_backend(pg_backend_pid()) WHERE $1 = 'till'";
}

fn written(local: &LocalDatabase) -> String {
    local.run_sql("SELECT count(*) FROM provider_call_counters").unwrap()
}

/// A database with one connection, so that each transaction gets that of the one before.
async fn one_connection() -> (Database, LocalDatabase) {
    let local = migrated();
    let mut small = settings(&local);
    small.pool_size = 1;
    (connected(small).await.unwrap(), local)
}

async fn writes(database: &Database) -> Writes {
    database.begin().await.unwrap().writes()
}

async fn count(writes: &mut Writes, till: &str) {
    writes.send(prepared::<Count>().bind::<Text, _>(till)).await.unwrap();
}

#[tokio::test]
async fn writes_are_kept_with_the_commit_that_is_sent_behind_them() {
    let (database, local) = one_connection().await;
    let mut first = writes(&database).await;
    for till in ["till 1", "till 2"] {
        count(&mut first, till).await;
    }
    assert_eq!(written(&local), "0");
    first.commit().await.unwrap();
    assert_eq!(written(&local), "2");

    let mut second = writes(&database).await;
    count(&mut second, "till 3").await;
    second.roll_back().await;
    assert_eq!(written(&local), "2");
}

#[tokio::test]
async fn a_rollback_is_never_taken_for_a_commit_though_the_commit_was_sent() {
    let (database, local) = one_connection().await;
    for _round in 0..2 {
        let mut failing = writes(&database).await;
        for till in ["till 1", "till 2", "till 1", "till 3"] {
            count(&mut failing, till).await;
        }
        let failed = failing.commit().await.unwrap_err();
        assert!(matches!(&failed, DatabaseError::Duplicate { constraint }
            if constraint == "provider_call_counters_pkey"));
        assert!(!failed.may_be_committed());
        assert_eq!(written(&local), "0");
    }
}

#[tokio::test]
async fn the_first_failure_is_told_also_if_a_later_write_must_be_prepared() {
    let (database, local) = one_connection().await;
    let mut failing = writes(&database).await;
    count(&mut failing, "till").await;
    count(&mut failing, "till").await;
    let failed = failing.send(prepared::<CountNothing>().bind::<Text, _>("till 2")).await;
    assert!(matches!(failed, Err(DatabaseError::Duplicate { .. })), "{failed:?}");
    let ended = failing.end(failed).await;
    assert!(matches!(ended, Err(DatabaseError::Duplicate { .. })), "{ended:?}");
    assert_eq!(written(&local), "0");

    let mut failing = writes(&database).await;
    count(&mut failing, "till").await;
    failing.send(prepared::<CountNothing>().bind::<Text, _>("till 2")).await.unwrap();
    count(&mut failing, "till").await;
    let failed = failing.commit().await.unwrap_err();
    assert!(matches!(failed, DatabaseError::Rejected { .. }), "{failed:?}");
    assert_eq!(written(&local), "0");
}

#[tokio::test]
async fn nothing_is_kept_if_one_of_the_writes_could_not_be_sent() {
    let (database, local) = one_connection().await;
    let mut failing = writes(&database).await;
    count(&mut failing, "till").await;
    let unsent = failing.send(prepared::<CountElsewhere>().bind::<Text, _>("till")).await;
    let ended = failing.end(unsent).await.unwrap_err();
    assert!(matches!(ended, DatabaseError::Query { .. }) && !ended.may_be_committed(), "{ended:?}");
    assert_eq!(written(&local), "0");
    writes(&database).await.commit().await.unwrap();
}

#[tokio::test]
async fn a_look_at_the_writes_tells_their_failure_and_stops_the_commit() {
    let (database, local) = one_connection().await;
    let mut failing = writes(&database).await;
    count(&mut failing, "till").await;
    failing.answered().await.unwrap();
    count(&mut failing, "till").await;
    let failed = failing.answered().await.map(drop);
    assert!(matches!(failed, Err(DatabaseError::Duplicate { .. })), "{failed:?}");
    failing.end(failed).await.unwrap_err();
    assert_eq!(written(&local), "0");
}

#[tokio::test]
async fn a_session_that_ends_among_the_writes_leaves_doubt_because_the_commit_was_sent() {
    let (database, local) = one_connection().await;
    // Prepared before, so that nothing is waited for.
    let mut prepares = writes(&database).await;
    prepares.send(prepared::<EndSession>().bind::<Text, _>("another till")).await.unwrap();
    prepares.commit().await.unwrap();

    let mut ended = writes(&database).await;
    ended.send(prepared::<EndSession>().bind::<Text, _>("till")).await.unwrap();
    let outcome = ended.commit().await.unwrap_err();
    assert!(matches!(outcome, DatabaseError::Unacknowledged { .. }), "{outcome:?}");
    assert_eq!(written(&local), "0");
}

/// No server does this. It stands for a proxy or a server that does not keep to the rules of a transaction.
#[tokio::test]
async fn a_commit_that_is_acknowledged_behind_a_failed_write_is_doubt() {
    for (tills, kept) in [(["till", "till"], "1"), (["till 1", "till 2"], "2")] {
        let (database, local) = one_connection().await;
        let transaction = database.begin().await.unwrap();
        transaction.batch_execute("COMMIT").await.unwrap();
        let mut alone = transaction.writes();
        for till in tills {
            count(&mut alone, till).await;
        }
        let outcome = alone.commit().await.unwrap_err();
        assert!(matches!(outcome, DatabaseError::Unacknowledged { .. }), "{outcome:?}");
        assert_eq!(written(&local), kept, "each write has committed by itself");
    }
}

#[tokio::test]
async fn nothing_is_written_before_the_transaction_has_begun() {
    let (database, local) = database().await;
    let mut alone = database.another_pool(Purpose::Money, 1).transaction().await.unwrap().writes();
    let refused = alone.send(prepared::<Count>().bind::<Text, _>("till")).await;
    assert!(matches!(refused, Err(DatabaseError::Query { .. })), "{refused:?}");
    alone.end(refused).await.unwrap_err();
    assert_eq!(written(&local), "0");
}
