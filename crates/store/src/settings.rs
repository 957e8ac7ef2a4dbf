//! What the store is told by the deployment: where the database is, and how long it may take.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

/// The store's part of a binary's settings. Only the address has no default.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    /// The database's address, `postgres://role:password@host/name`; the role is a serving one, not the owner.
    pub database_url: SecretString,
    /// How the connections introduce themselves in `pg_stat_activity`.
    #[serde(default = "default::application_name")]
    pub application_name: String,
    /// Connections for reading and for everything that moves no money.
    #[serde(default = "default::pool_size")]
    pub pool_size: usize,
    /// Connections that only reserves and settles use, so that no read can starve them.
    #[serde(default = "default::money_pool_size")]
    pub money_pool_size: usize,
    /// Group commit lanes; each uses one of the money connections at a time. More of them make smaller groups,
    /// and only help where the database has processors to spare.
    #[serde(default = "default::lanes")]
    pub lanes: usize,
    /// Most reserves and records that one lane runs as one transaction.
    #[serde(default = "default::group_max")]
    pub group_max: usize,
    /// How long an operation may wait for a free connection.
    #[serde(default = "default::pool_wait_ms")]
    pub pool_wait_ms: u64,
    /// How long making a connection may take.
    #[serde(default = "default::connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// How long the server lets a statement wait for a lock.
    #[serde(default = "default::lock_timeout_ms")]
    pub lock_timeout_ms: u64,
    /// How long the server lets a statement run.
    #[serde(default = "default::statement_timeout_ms")]
    pub statement_timeout_ms: u64,
    /// How long the server keeps an open transaction that says nothing.
    #[serde(default = "default::idle_in_transaction_timeout_ms")]
    pub idle_in_transaction_timeout_ms: u64,
    /// How long this side waits for the acknowledgement of a commit before it counts as unacknowledged.
    #[serde(default = "default::commit_deadline_ms")]
    pub commit_deadline_ms: u64,
    /// How long this side waits for a whole operation, whatever the server and the network do.
    #[serde(default = "default::operation_deadline_ms")]
    pub operation_deadline_ms: u64,
}

/// Why settings describe no usable store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreSettingsError {
    /// The driver cannot read it. What it says is not repeated, since the address holds a password.
    #[error("database_url is no address such as postgres://login:password@host/name")]
    BadAddress,
}

impl StoreSettings {
    /// Checked at start-up.
    ///
    /// # Errors
    /// When there cannot be a database at the address.
    pub fn checked(&self) -> Result<(), StoreSettingsError> {
        let parsed = self.database_url.expose_secret().parse::<tokio_postgres::Config>();
        let has_host = parsed.is_ok_and(|parsed| !parsed.get_hosts().is_empty());
        if has_host { Ok(()) } else { Err(StoreSettingsError::BadAddress) }
    }

    /// The defaults, on the database at `database_url`.
    pub fn for_database(database_url: impl Into<SecretString>) -> Self {
        Self {
            database_url: database_url.into(),
            application_name: default::application_name(),
            pool_size: default::pool_size(),
            money_pool_size: default::money_pool_size(),
            lanes: default::lanes(),
            group_max: default::group_max(),
            pool_wait_ms: default::pool_wait_ms(),
            connect_timeout_ms: default::connect_timeout_ms(),
            lock_timeout_ms: default::lock_timeout_ms(),
            statement_timeout_ms: default::statement_timeout_ms(),
            idle_in_transaction_timeout_ms: default::idle_in_transaction_timeout_ms(),
            commit_deadline_ms: default::commit_deadline_ms(),
            operation_deadline_ms: default::operation_deadline_ms(),
        }
    }

    pub(crate) fn pool_wait(&self) -> Duration {
        Duration::from_millis(self.pool_wait_ms)
    }

    pub(crate) fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    pub(crate) fn commit_deadline(&self) -> Duration {
        Duration::from_millis(self.commit_deadline_ms)
    }

    pub(crate) fn operation_deadline(&self) -> Duration {
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

    pub(super) const fn lanes() -> usize {
        2
    }

    pub(super) const fn group_max() -> usize {
        64
    }

    pub(super) const fn pool_wait_ms() -> u64 {
        2_000
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
