//! What an error means does not depend on the language of the server. Between this program and the server stands a
//! relay that makes every text of an error or a notice unreadable.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    thread,
};

use database::{Database, DatabaseError, DatabaseSettings, Purpose, Transaction};
use local_postgres::LocalDatabase;
use test_kit::{database::migrated, relay::Relay};
use tokio::runtime::Handle;

const WRITE: &str = "INSERT INTO provider_call_counters VALUES ('till', 1, now())";
const OTHER_WRITE: &str = "INSERT INTO provider_call_counters VALUES ('till 2', 1, now())";

/// The fields of an error or a notice that are in the server's language: severity, text, detail, hint and place
/// (PostgreSQL, 55.8).
const TRANSLATED: &[u8] = b"SMDHW";

/// Connects. A lock is waited for and a statement runs for a moment only.
async fn connected_at(url: String) -> Database {
    let mut settings = DatabaseSettings::for_database(url);
    (settings.lock_timeout_ms, settings.statement_timeout_ms) = (1_500, 3_000);
    Database::connect(settings, Purpose::General, Handle::current()).await.unwrap()
}

/// Connects through the relay.
async fn connected(local: &LocalDatabase) -> Database {
    let relay = Relay::start(local.port(), |mut client, mut server| {
        let (from, to) = (server.try_clone()?, client.try_clone()?);
        thread::spawn(move || garble(from, to).is_ok());
        io::copy(&mut client, &mut server)?;
        server.shutdown(Shutdown::Both)
    });
    connected_at(relay.unwrap().through(&local.url())).await
}

/// Forwards the server's messages, with the texts of its errors and notices made unreadable.
fn garble(mut server: TcpStream, mut client: TcpStream) -> io::Result<()> {
    let mut head = [0; 5];
    loop {
        if server.read_exact(&mut head).is_err() {
            return client.shutdown(Shutdown::Both);
        }
        let [kind, length @ ..] = head;
        let mut body = vec![0; usize::try_from(u32::from_be_bytes(length)).unwrap().saturating_sub(4)];
        server.read_exact(&mut body)?;
        if matches!(kind, b'E' | b'N') {
            for field in body.split_mut(|byte| *byte == 0) {
                if let [name, text @ ..] = field
                    && TRANSLATED.contains(name)
                {
                    text.fill(b'?');
                }
            }
        }
        client.write_all(&head)?;
        client.write_all(&body)?;
    }
}

async fn failed(transaction: &Transaction, sql: &str) -> DatabaseError {
    transaction.batch_execute(sql).await.unwrap_err()
}

#[tokio::test]
async fn a_refused_value_is_told_from_one_that_exists() {
    let database = connected(&migrated()).await;
    let transaction = database.begin().await.unwrap();
    transaction.batch_execute(WRITE).await.unwrap();
    let twice = failed(&transaction, WRITE).await;
    assert!(
        matches!(&twice, DatabaseError::Duplicate { constraint } if constraint == "provider_call_counters_pkey")
    );
    let aborted = transaction.commit().await.unwrap_err();
    assert!(matches!(&aborted, DatabaseError::Query { .. }) && !aborted.may_be_committed(), "{aborted:?}");

    let transaction = database.begin().await.unwrap();
    let refused = failed(&transaction, "INSERT INTO provider_call_counters VALUES (NULL, 1, now())").await;
    assert!(matches!(refused, DatabaseError::Rejected { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_lock_that_stays_taken_and_a_slow_statement_are_busy() {
    let local = migrated();
    let database = connected(&local).await;
    let holder = database.begin().await.unwrap();
    holder.batch_execute("LOCK provider_call_counters IN EXCLUSIVE MODE").await.unwrap();
    let waits = database.begin().await.unwrap();
    let locked = failed(&waits, WRITE).await;
    assert!(matches!(locked, DatabaseError::Busy { .. }), "{locked:?}");

    let slow =
        failed(&database.begin().await.unwrap(), "SET statement_timeout = 1; SELECT pg_sleep(9)").await;
    assert!(matches!(slow, DatabaseError::Busy { .. }), "{slow:?}");
}

/// The server speaks German, where its translations are installed.
#[tokio::test]
async fn a_lock_that_stays_taken_is_busy_in_german_too() {
    let local = migrated();
    local.run_sql(&format!("ALTER DATABASE {} SET lc_messages = 'C.UTF-8'", local.name())).unwrap();
    let database = connected_at(local.url()).await;
    let holder = database.begin().await.unwrap();
    holder.batch_execute("LOCK provider_call_counters IN EXCLUSIVE MODE").await.unwrap();
    let locked = failed(&database.begin().await.unwrap(), WRITE).await;
    assert!(matches!(locked, DatabaseError::Busy { .. }), "{locked:?}");
}

#[tokio::test]
async fn a_deadlock_is_busy() {
    let database = connected(&migrated()).await;
    let (one, other) = (database.begin().await.unwrap(), database.begin().await.unwrap());
    one.batch_execute(WRITE).await.unwrap();
    other.batch_execute(OTHER_WRITE).await.unwrap();
    let (first, second) = tokio::join!(one.batch_execute(OTHER_WRITE), other.batch_execute(WRITE));
    let victim = first.and(second).unwrap_err();
    assert!(matches!(victim, DatabaseError::Busy { .. }), "{victim:?}");
}

#[tokio::test]
async fn a_session_that_the_server_ends_is_unavailable() {
    let local = migrated();
    let database = connected(&local).await;
    let transaction = database.begin().await.unwrap();
    let ended = failed(&transaction, "SELECT pg_terminate_backend(pg_backend_pid())").await;
    assert!(matches!(ended, DatabaseError::Unavailable { .. }), "{ended:?}");
}

#[tokio::test]
async fn a_permission_that_is_missing_is_forbidden() {
    let database = connected(&migrated()).await;
    let transaction = database.begin().await.unwrap();
    transaction.batch_execute("SET LOCAL ROLE vendgate_worker").await.unwrap();
    let denied = failed(&transaction, "DELETE FROM audit_log").await;
    assert!(denied.is_forbidden(), "{denied:?}");
    assert!(!failed(&transaction, "SELECT 1").await.is_forbidden());
}
