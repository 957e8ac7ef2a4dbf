//! Databases of a server: created empty, or copied in milliseconds from a template that was migrated once.

use std::{
    collections::BTreeSet,
    error::Error,
    fmt, panic,
    sync::{Mutex, PoisonError, atomic::Ordering},
    thread,
};

use crate::{
    LocalPostgres, LocalPostgresError,
    superuser::{Sessions, Superuser},
};

/// One database of a [`LocalPostgres`]. The server must outlive every use of the database.
///
/// The database is not dropped with this value but with its server. Dropping it would cost each test a
/// process and a checkpoint. The database of a failed test can also still be inspected.
#[derive(Clone)]
pub struct LocalDatabase {
    superuser: Superuser,
    sessions: Sessions,
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
    /// The first call for a template creates it: `prepare` gets the address of an empty database and fills it
    /// by running migrations. It runs on its own thread, so it may start an async runtime even when the
    /// caller runs in one. Other callers wait. If it fails, the next call tries again with its own `prepare`.
    pub fn database_from_template<E>(
        &self,
        template: &str,
        prepare: impl FnOnce(&str) -> Result<(), E> + Send,
    ) -> Result<LocalDatabase, LocalPostgresError>
    where
        E: Into<Box<dyn Error + Send + Sync>> + Send,
    {
        let template = DatabaseName::parse(template)?;
        self.ensure_template(&template, prepare)?;
        let number = self.databases_made.fetch_add(1, Ordering::Relaxed);
        let name = DatabaseName(format!("{}_{number}", template.0));
        // Copies files instead of logging every page: the copy is removed with its server and needs no
        // recovery.
        let copy = format!("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name.0, template.0);
        self.superuser.maintains(&copy)?;
        Ok(LocalDatabase::new(&self.superuser, name))
    }

    /// Fills the template, unless it is complete.
    pub(crate) fn ensure_template<E>(
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
        // It may have come with the cluster. It takes no connections once it is complete.
        let complete =
            format!("SELECT count(*) FROM pg_database WHERE datname = '{name}' AND NOT datallowconn");
        if self.superuser.maintains(&complete)? == "1" {
            ready.insert(template.clone());
            return Ok(());
        }
        // An earlier attempt may have failed half way.
        self.superuser.maintains(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
        self.superuser.maintains(&format!("CREATE DATABASE {name}"))?;
        let url = self.superuser.url(name);
        let prepared = thread::scope(|scope| scope.spawn(|| prepare(&url)).join());
        prepared.unwrap_or_else(|panicked| panic::resume_unwind(panicked)).map_err(|error| {
            LocalPostgresError::Template { template: name.to_owned(), source: error.into() }
        })?;
        // A template cannot be copied while a client is connected to it.
        self.superuser.maintains(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"))?;
        let disconnect =
            format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
        self.superuser.maintains(&disconnect)?;
        ready.insert(template.clone());
        Ok(())
    }
}

impl LocalDatabase {
    pub(crate) fn create(superuser: &Superuser, name: DatabaseName) -> Result<Self, LocalPostgresError> {
        superuser.maintains(&format!("CREATE DATABASE {}", name.as_str()))?;
        Ok(Self::new(superuser, name))
    }

    pub(crate) fn new(superuser: &Superuser, name: DatabaseName) -> Self {
        Self { superuser: superuser.clone(), sessions: Sessions::default(), name }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// The port on which its server listens.
    pub fn port(&self) -> u16 {
        self.superuser.port()
    }

    /// The superuser's address of the database, password included.
    pub fn url(&self) -> String {
        self.superuser.url(self.name())
    }

    /// The address of the database for another role. Its name and password must be letters, digits and
    /// underscores.
    pub fn url_as(&self, role: &str, password: &str) -> String {
        self.superuser.url_as(role, password, self.name())
    }

    /// Runs `sql` as the superuser and returns its rows as text: fields split by `|`, rows by line ends.
    pub fn run_sql(&self, sql: &str) -> Result<String, LocalPostgresError> {
        self.sessions.run(&self.url(), sql)
    }
}

impl fmt::Debug for LocalDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalDatabase").field("name", &self.name()).finish_non_exhaustive()
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
