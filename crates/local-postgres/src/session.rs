//! One connection to a database, used from threads that may themselves belong to an async runtime.

use std::{
    sync::{OnceLock, mpsc},
    thread,
};

use tokio::runtime::{Builder, Handle};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage, SimpleQueryRow};

use crate::LocalPostgresError;

/// An open connection.
pub(crate) struct Session(Client);

impl Session {
    pub(crate) fn is_open(&self) -> bool {
        !self.0.is_closed()
    }

    /// Runs `sql` as one simple query, so that all of its statements are one transaction, in the session
    /// `idle` or in a new one. Returns the session, if it can be used again, and the rows.
    pub(crate) fn run(
        idle: Option<Self>,
        url: &str,
        sql: &str,
    ) -> (Option<Self>, Result<String, LocalPostgresError>) {
        let (url, query) = (url.to_owned(), sql.to_owned());
        let (session, answer) = wait_for(async move {
            let client = match idle {
                Some(Self(client)) => client,
                None => match connect(&url).await {
                    Ok(client) => client,
                    Err(error) => return (None, Err(error)),
                },
            };
            let answer = client.simple_query(&query).await;
            // A `SET` must not reach the next user of the session.
            let is_reset = client.batch_execute("DISCARD ALL").await.is_ok();
            (is_reset.then_some(Self(client)), answer)
        });
        (session, answer.map(|messages| text(&messages)).map_err(|error| failed(sql, &error)))
    }
}

async fn connect(url: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(async move {
        // The client notices the end of its connection by itself.
        let _ended = connection.await;
    });
    Ok(client)
}

/// Blocks until the future is done. The future runs on a thread of its own: the caller may belong to a
/// runtime that must not be blocked by a future of its own.
fn wait_for<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    runtime().spawn(async move {
        let _unused = sender.send(future.await);
    });
    receiver.recv().expect("the runtime of the sessions runs until the process ends")
}

fn runtime() -> &'static Handle {
    static RUNTIME: OnceLock<Handle> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let runtime =
            Builder::new_current_thread().enable_all().build().expect("the system has a timer and a poller");
        let handle = runtime.handle().clone();
        thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
        handle
    })
}

fn text(messages: &[SimpleQueryMessage]) -> String {
    let rows = messages.iter().filter_map(|message| {
        if let SimpleQueryMessage::Row(row) = message { Some(line(row)) } else { None }
    });
    rows.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn line(row: &SimpleQueryRow) -> String {
    let fields: Vec<&str> = (0..row.len()).map(|index| row.get(index).unwrap_or_default()).collect();
    fields.join("|")
}

fn failed(sql: &str, error: &tokio_postgres::Error) -> LocalPostgresError {
    let said = error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string);
    LocalPostgresError::ProgramFailed { program: format!("the statement {sql}"), said }
}
