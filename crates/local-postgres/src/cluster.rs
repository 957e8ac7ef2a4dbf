//! A cluster that something else runs, for the tests of what happens when its primary moves.

use std::fmt;

use crate::{LocalDatabase, LocalPostgresError, database::DatabaseName, superuser::Superuser};

/// Several servers on one port, of which one is the primary. Databases are created there, and every statement finds it.
#[derive(Clone)]
pub struct Cluster(Superuser);

impl Cluster {
    /// The cluster on these hosts, with the password of the superuser `postgres`.
    pub fn new(hosts: Vec<String>, port: u16, password: String) -> Self {
        Self(Superuser::of_one_of(hosts, port, password))
    }

    /// Creates an empty database.
    ///
    /// # Errors
    /// [`LocalPostgresError`], if no host accepts writes or the name is not valid.
    pub fn create_database(&self, name: &str) -> Result<LocalDatabase, LocalPostgresError> {
        LocalDatabase::create(&self.0, DatabaseName::parse(name)?)
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cluster").field(&self.0).finish()
    }
}
