//! The database's settings: where it is, how many connections it gets, and how long operations may take.

use std::time::Duration;

use secrecy::SecretString;
use serde::Deserialize;

use crate::{address::AddressError, connection};

/// Where it is, how many connections it gets, and how long operations may take.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseSettings {
    /// The database's address, `postgres://role:password@host/name`; the role is a serving one, not the owner. The
    /// parameters `sslmode` and `sslrootcert` protect the connection, and `sslcert` and `sslkey` present a certificate, in the
    /// words of libpq. Of several hosts (`host1:5432,host2:5432`) all are asked at once, and the one that accepts writes is used.
    pub database_url: SecretString,
    /// Whether a server is refused that acknowledges commits without a standby. Set it for a cluster with synchronous
    /// replication.
    #[serde(default)]
    pub require_synchronous_standby: bool,
    /// The name of the connections in `pg_stat_activity`.
    #[serde(default = "default::application_name")]
    pub application_name: String,
    /// Connections for reading and for everything that moves no money.
    #[serde(default = "default::pool_size")]
    pub pool_size: usize,
    /// Connections that only reserves, records and the claims of the worker use, so that reads cannot starve them.
    #[serde(default = "default::money_pool_size")]
    pub money_pool_size: usize,
    /// Group commit lanes. Each uses one of the connections of `money_pool_size` at a time. More lanes make smaller groups, and only
    /// help if the database has spare processors. Without it a server has two, and a worker has one.
    #[serde(default)]
    pub lanes: Option<usize>,
    /// The maximum number of reserves and records that one lane runs as one transaction.
    #[serde(default = "default::group_max")]
    pub group_max: usize,
    /// How long an operation may wait for a free connection.
    #[serde(default = "default::pool_wait_ms")]
    pub pool_wait_ms: u64,
    /// After how long the server of a connection is asked again whether its settings are safe for money. Zero asks before
    /// each use.
    #[serde(default = "default::recheck_ms")]
    pub recheck_ms: u64,
    /// How long opening a connection may take. With several hosts, it is also how long an operation waits for one that
    /// accepts writes.
    #[serde(default = "default::connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// How long the server lets a statement wait for a lock, in milliseconds.
    #[serde(default = "default::lock_timeout_ms")]
    pub lock_timeout_ms: u64,
    /// How long the server lets a statement run.
    #[serde(default = "default::statement_timeout_ms")]
    pub statement_timeout_ms: u64,
    /// How long the server keeps an open transaction without activity.
    #[serde(default = "default::idle_in_transaction_timeout_ms")]
    pub idle_in_transaction_timeout_ms: u64,
    /// How long this side waits for the acknowledgement of a commit. After that the commit counts as unacknowledged.
    #[serde(default = "default::commit_deadline_ms")]
    pub commit_deadline_ms: u64,
    /// How long this side waits for a whole operation, independent of the server and the network.
    #[serde(default = "default::operation_deadline_ms")]
    pub operation_deadline_ms: u64,
}

impl DatabaseSettings {
    /// Checks the settings at start-up.
    ///
    /// # Errors
    /// If the address cannot be that of a database, or the protection that it names cannot be set up.
    pub fn checked(&self) -> Result<(), AddressError> {
        connection::address(self).map(drop)
    }

    /// The names of the settings that are zero and must not be.
    pub fn zeros(&self) -> impl Iterator<Item = &'static str> {
        let lengths = [
            ("pool_size", self.pool_size == 0),
            ("money_pool_size", self.money_pool_size == 0),
            ("lanes", self.lanes == Some(0)),
            ("group_max", self.group_max == 0),
            ("pool_wait_ms", self.pool_wait_ms == 0),
            ("connect_timeout_ms", self.connect_timeout_ms == 0),
            ("lock_timeout_ms", self.lock_timeout_ms == 0),
            ("statement_timeout_ms", self.statement_timeout_ms == 0),
            ("idle_in_transaction_timeout_ms", self.idle_in_transaction_timeout_ms == 0),
            ("commit_deadline_ms", self.commit_deadline_ms == 0),
            ("operation_deadline_ms", self.operation_deadline_ms == 0),
        ];
        lengths.into_iter().filter_map(|(name, is_zero)| is_zero.then_some(name))
    }

    /// The defaults, on the database at `database_url`.
    pub fn for_database(database_url: impl Into<SecretString>) -> Self {
        Self {
            database_url: database_url.into(),
            require_synchronous_standby: false,
            application_name: default::application_name(),
            pool_size: default::pool_size(),
            money_pool_size: default::money_pool_size(),
            lanes: None,
            group_max: default::group_max(),
            pool_wait_ms: default::pool_wait_ms(),
            recheck_ms: default::recheck_ms(),
            connect_timeout_ms: default::connect_timeout_ms(),
            lock_timeout_ms: default::lock_timeout_ms(),
            statement_timeout_ms: default::statement_timeout_ms(),
            idle_in_transaction_timeout_ms: default::idle_in_transaction_timeout_ms(),
            commit_deadline_ms: default::commit_deadline_ms(),
            operation_deadline_ms: default::operation_deadline_ms(),
        }
    }

    /// How long an operation may wait for a free connection.
    pub fn pool_wait(&self) -> Duration {
        Duration::from_millis(self.pool_wait_ms)
    }

    pub(crate) fn recheck(&self) -> Duration {
        Duration::from_millis(self.recheck_ms)
    }

    pub(crate) fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    pub(crate) fn commit_deadline(&self) -> Duration {
        Duration::from_millis(self.commit_deadline_ms)
    }

    /// How long this side waits for a whole operation.
    pub fn operation_deadline(&self) -> Duration {
        Duration::from_millis(self.operation_deadline_ms)
    }
}

mod default {
    pub(super) fn application_name() -> String {
        "vendgate".to_owned()
    }

    pub(super) const fn pool_size() -> usize {
        16
    }

    pub(super) const fn money_pool_size() -> usize {
        8
    }

    pub(super) const fn group_max() -> usize {
        64
    }

    pub(super) const fn pool_wait_ms() -> u64 {
        2_000
    }

    pub(super) const fn recheck_ms() -> u64 {
        30_000
    }

    pub(super) const fn connect_timeout_ms() -> u64 {
        5_000
    }

    pub(super) const fn lock_timeout_ms() -> u64 {
        2_000
    }

    pub(super) const fn statement_timeout_ms() -> u64 {
        5_000
    }

    pub(super) const fn idle_in_transaction_timeout_ms() -> u64 {
        5_000
    }

    pub(super) const fn commit_deadline_ms() -> u64 {
        10_000
    }

    pub(super) const fn operation_deadline_ms() -> u64 {
        30_000
    }
}
