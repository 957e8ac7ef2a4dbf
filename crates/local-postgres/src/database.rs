//! Databases of the server: made empty, or copied in milliseconds from a template that was migrated once.

use std::{
    collections::BTreeSet,
    error::Error,
    fmt, panic,
    sync::{Mutex, PoisonError, atomic::Ordering},
    thread,
};

use crate::{LocalPostgres, LocalPostgresError, psql::Psql};

/// One database of a [`LocalPostgres`], which must outlive every use of it.
///
/// It is not dropped with this value but with its server: dropping it would cost each test a process and a
/// checkpoint, and a database that failed a test may still be looked at.
#[derive(Clone)]
pub struct Database {
    psql: Psql,
    name: DatabaseName,
}

/// The templates that are ready.
#[derive(Default)]
pub(crate) struct Templates {
    ready: Mutex<BTreeSet<DatabaseName>>,
}

/// A name that needs no quoting, in SQL or in an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DatabaseName(String);

impl LocalPostgres {
    /// A new database for one test, copied from the template `template`.
    ///
    /// The first call for a template makes it: `prepare` is given the address of an empty database and fills
    /// it, by running migrations. It has a thread of its own, so that it may start an async runtime even
    /// when the caller stands in one; other callers wait. If it fails, the next caller's tries again.
    pub fn database_from_template<E>(
        &self,
        template: &str,
        prepare: impl FnOnce(&str) -> Result<(), E> + Send,
    ) -> Result<Database, LocalPostgresError>
    where
        E: Into<Box<dyn Error + Send + Sync>> + Send,
    {
        let template = DatabaseName::parse(template)?;
        self.ensure_template(&template, prepare)?;
        let number = self.databases_made.fetch_add(1, Ordering::Relaxed);
        let name = DatabaseName(format!("{}_{number}", template.0));
        // Copying files instead of logging every page: a copy that is gone with its server needs no recovery.
        let copy = format!("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name.0, template.0);
        self.psql.run("postgres", &copy)?;
        Ok(Database::new(&self.psql, name))
    }

    fn ensure_template<E>(
        &self,
        template: &DatabaseName,
        prepare: impl FnOnce(&str) -> Result<(), E> + Send,
    ) -> Result<(), LocalPostgresError>
    where
        E: Into<Box<dyn Error + Send + Sync>> + Send,
    {
        let mut ready = self.templates.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.contains(template) {
            return Ok(());
        }
        let name = template.as_str();
        // An earlier attempt may have failed half way.
        self.psql.run("postgres", &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
        self.psql.run("postgres", &format!("CREATE DATABASE {name}"))?;
        let url = self.psql.url(name);
        let prepared = thread::scope(|scope| scope.spawn(|| prepare(&url)).join());
        prepared.unwrap_or_else(|panicked| panic::resume_unwind(panicked)).map_err(|error| {
            LocalPostgresError::Template { template: name.to_owned(), source: error.into() }
        })?;
        // A template that somebody is connected to cannot be copied.
        self.psql.run("postgres", &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"))?;
        let disconnect =
            format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
        self.psql.run("postgres", &disconnect)?;
        ready.insert(template.clone());
        Ok(())
    }
}

impl Database {
    pub(crate) fn new(psql: &Psql, name: DatabaseName) -> Self {
        Self { psql: psql.clone(), name }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Where its server listens on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.psql.port()
    }

    /// The superuser's address of it, password included.
    pub fn url(&self) -> String {
        self.psql.url(self.name())
    }

    /// The address of it for another role, whose name and password are letters, digits and underscores.
    pub fn url_as(&self, role: &str, password: &str) -> String {
        self.psql.url_as(role, password, self.name())
    }

    /// Runs `sql` as the superuser and returns its rows as text: fields split by `|`, rows by line ends.
    pub fn run_sql(&self, sql: &str) -> Result<String, LocalPostgresError> {
        self.psql.run(self.name(), sql)
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl DatabaseName {
    pub(crate) fn parse(name: &str) -> Result<Self, LocalPostgresError> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if (1..=50).contains(&name.len())
            && name.bytes().all(plain)
            && !name.starts_with(|c: char| c.is_ascii_digit())
        {
            return Ok(Self(name.to_owned()));
        }
        Err(LocalPostgresError::BadName { name: name.to_owned() })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}
