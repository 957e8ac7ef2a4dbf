//! The session of a connection: its limits, and the settings of the server that money needs.

use tokio_postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

use crate::{DatabaseError, DatabaseSettings, Purpose, schema, timeline::Timeline};

/// The oldest Postgres that this program runs on.
const OLDEST_VERSION: u32 = 150_000;

/// A server in recovery has no timeline of its own. The control file knows a new timeline only after a checkpoint, so the
/// name of the WAL file is asked for.
const ASK: &str = "SELECT current_setting('server_version_num') AS version,
                          current_setting('synchronous_commit') AS synchronous_commit,
                          current_setting('synchronous_standby_names') AS standbys,
                          current_setting('transaction_read_only') AS read_only,
                          current_setting('vendgate.was_set_up', true) AS was_set_up,
                          CASE WHEN NOT pg_is_in_recovery()
                               THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END AS timeline";

/// Notes whether the session was set up before. A pooler that gives a session to another client after each transaction shows
/// itself so: the limits and the lock of one client would become those of others.
const NOTE_SET_UP: &str = "SELECT set_config('vendgate.was_set_up', coalesce(current_setting('vendgate.is_set_up', true), ''), false),
                                  set_config('vendgate.is_set_up', 'yes', false)";

/// Sets the session's limits, takes the lock that tells its schema, and reads back the required settings, in one round trip.
/// Returns the server's timeline.
pub(crate) async fn set_up(
    client: &Client,
    settings: &DatabaseSettings,
    purpose: Purpose,
) -> Result<Timeline, DatabaseError> {
    let sql = format!(
        "SET lock_timeout = {lock}; SET statement_timeout = {statement};
         SET idle_in_transaction_session_timeout = {idle}; SET client_connection_check_interval = 0;
         SET default_transaction_isolation = 'read committed'; SET TIME ZONE 'UTC';
         SET client_min_messages = warning; {session}
         SELECT pg_advisory_lock_shared({lock_of_program});
         {NOTE_SET_UP};
         {ASK}",
        session = purpose.session(),
        lock_of_program = schema::session_lock(),
        lock = settings.lock_timeout_ms,
        statement = settings.statement_timeout_ms,
        idle = settings.idle_in_transaction_timeout_ms,
    );
    check(client, &sql, settings).await
}

/// Reads the required settings again. Returns the server's timeline.
pub(crate) async fn confirm(client: &Client, settings: &DatabaseSettings) -> Result<Timeline, DatabaseError> {
    check(client, ASK, settings).await
}

/// The server's timeline, unless it is a standby.
pub(crate) async fn timeline(client: &Client) -> Result<Option<Timeline>, DatabaseError> {
    Ok(row(client, ASK).await?.and_then(|row| row.get("timeline").and_then(Timeline::of_a_wal_file)))
}

async fn check(client: &Client, sql: &str, settings: &DatabaseSettings) -> Result<Timeline, DatabaseError> {
    let answer = row(client, sql).await?;
    let row = answer.ok_or_else(|| DatabaseError::unavailable("no answer about settings"))?;
    let is_recent = |value: &str| value.parse().is_ok_and(|version: u32| version >= OLDEST_VERSION);
    require("server_version_num", &row, "version", "150000 or later", is_recent)?;
    require("transaction_read_only", &row, "read_only", "off", |value| value == "off")?;
    if row.get("was_set_up").is_some_and(|value| !value.is_empty()) {
        return Err(DatabaseError::Setting {
            name: "session",
            value: "shared with other clients".to_owned(),
            required: "of one client: set pool_mode = session and server_reset_query = DISCARD ALL in PgBouncer",
        });
    }
    if settings.require_synchronous_standby {
        let waits = |value: &str| ["on", "remote_apply"].contains(&value);
        require("synchronous_commit", &row, "synchronous_commit", "on or remote_apply", waits)?;
        let named = "set, because store.require_synchronous_standby is true";
        require("synchronous_standby_names", &row, "standbys", named, |value| !value.is_empty())?;
    } else {
        require("synchronous_commit", &row, "synchronous_commit", "on", |value| value != "off")?;
    }
    let timeline = row.get("timeline").and_then(Timeline::of_a_wal_file);
    timeline.ok_or_else(|| DatabaseError::Unavailable { source: "the server has no timeline".into() })
}

/// The last row of the answer.
pub(crate) async fn row(client: &Client, sql: &str) -> Result<Option<SimpleQueryRow>, DatabaseError> {
    let answers = client.simple_query(sql).await.map_err(DatabaseError::unavailable)?;
    let mut rows = answers
        .into_iter()
        .rev()
        .filter_map(|answer| if let SimpleQueryMessage::Row(row) = answer { Some(row) } else { None });
    Ok(rows.next())
}

fn require(
    name: &'static str,
    row: &SimpleQueryRow,
    column: &str,
    required: &'static str,
    holds: impl FnOnce(&str) -> bool,
) -> Result<(), DatabaseError> {
    let value = row.get(column).unwrap_or_default();
    if holds(value) {
        Ok(())
    } else {
        Err(DatabaseError::Setting { name, value: value.to_owned(), required })
    }
}
