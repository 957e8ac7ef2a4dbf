//! The superuser of one server or cluster: its address, and sessions with its databases.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{LocalPostgresError, session::Session};

/// How to reach one server, or the primary of a cluster, as its superuser.
#[derive(Clone)]
pub(crate) struct Superuser {
    hosts: Vec<String>,
    port: u16,
    password: String,
    maintenance: Sessions,
}

/// A host that is lost must not keep a session waiting.
const OF_A_CLUSTER: &str = "?target_session_attrs=read-write&connect_timeout=2&tcp_user_timeout=3";

/// The sessions with one database. They stay open while they are not in use: a new one would cost more than
/// most statements.
#[derive(Clone, Default)]
pub(crate) struct Sessions {
    idle: Arc<Mutex<Vec<Session>>>,
}

impl Superuser {
    pub(crate) fn new(port: u16, password: String) -> Self {
        Self::of_one_of(vec!["127.0.0.1".to_owned()], port, password)
    }

    /// The superuser of the one of these hosts that accepts writes. All have the same port.
    pub(crate) fn of_one_of(hosts: Vec<String>, port: u16, password: String) -> Self {
        Self { hosts, port, password, maintenance: Sessions::default() }
    }

    pub(crate) fn password(&self) -> &str {
        &self.password
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The superuser's address of `database`.
    pub(crate) fn url(&self, database: &str) -> String {
        self.url_as("postgres", &self.password, database)
    }

    pub(crate) fn url_as(&self, user: &str, password: &str, database: &str) -> String {
        let places: Vec<String> = self.hosts.iter().map(|host| format!("{host}:{}", self.port)).collect();
        let choice = if self.hosts.len() > 1 { OF_A_CLUSTER } else { "" };
        format!("postgres://{user}:{password}@{}/{database}{choice}", places.join(","))
    }

    /// Runs a statement about databases, in the database `postgres`.
    pub(crate) fn maintains(&self, sql: &str) -> Result<String, LocalPostgresError> {
        self.maintenance.run(&self.url("postgres"), sql)
    }
}

impl Sessions {
    /// Runs `sql` in an idle session, or in a new one to `url`. Returns the rows as bare text: fields split
    /// by `|`, rows by line ends.
    pub(crate) fn run(&self, url: &str, sql: &str) -> Result<String, LocalPostgresError> {
        let idle = self.lock().pop().filter(Session::is_open);
        let (session, answer) = Session::run(idle, url, sql);
        self.lock().extend(session);
        answer
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without the password.
impl fmt::Debug for Superuser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Superuser").field("port", &self.port).finish_non_exhaustive()
    }
}
