//! The server: its start, its addresses, and its end together with its owner.

use std::{
    fmt, io,
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::atomic::AtomicU64,
    thread,
    time::Duration,
};

use crate::{
    LocalDatabase, LocalPostgresError,
    account::Account,
    database::{DatabaseName, Templates},
    directory::{Directory, random_word},
    installation::Installation,
    kept::{Contents, KeptCluster},
    superuser::Superuser,
    watcher::{Origin, Watcher},
};

const POLL: Duration = Duration::from_millis(5);

/// How often a server that starts or ends is polled before that fails: one minute, for a very busy machine.
const POLLS: u32 = 12_000;

/// How often a start is tried. Another program may take the port between its choice and the server's start.
const ATTEMPTS: u32 = 3;

/// What the server does so that a commit survives a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Every commit is synced to disk, as in production: for the sandbox and for benchmarks.
    Durable,
    /// Nothing is synced. Data is lost only if the whole machine fails. For tests.
    Throwaway,
}

/// The state of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerState {
    /// It takes no connections yet.
    Starting,
    /// It takes connections.
    Ready,
    /// It has ended, or was ended.
    Ended,
}

/// A running private Postgres. Dropping it ends the server and removes everything it stored.
pub struct LocalPostgres {
    pub(crate) superuser: Superuser,
    pub(crate) templates: Templates,
    pub(crate) databases_made: AtomicU64,
    installation: Installation,
    pub(crate) directory: Directory,
    // Dropping it ends the server.
    pub(crate) watcher: Watcher,
}

impl LocalPostgres {
    /// Starts a private server. It takes a second or less, or some minutes if Postgres must be installed first.
    pub fn start(durability: Durability) -> Result<Self, LocalPostgresError> {
        Self::start_with(durability, &[])
    }

    /// [`start`](Self::start), with settings of its own, each as `name=value`. They replace ours.
    pub fn start_with(durability: Durability, settings: &[&str]) -> Result<Self, LocalPostgresError> {
        let installation = Installation::find_or_install()?;
        // A durable cluster has a password of its own, as in production.
        let kept = (durability == Durability::Throwaway)
            .then(|| KeptCluster::of(&installation, Contents::NEW))
            .flatten();
        Self::start_from(&installation, durability, settings, kept.as_ref())
    }

    /// Starts a server whose cluster is a copy of the kept one. If none is kept yet, it is made, and kept there. If the copy
    /// does not start, a new one does.
    pub(crate) fn start_from(
        installation: &Installation,
        durability: Durability,
        settings: &[&str],
        kept: Option<&KeptCluster>,
    ) -> Result<Self, LocalPostgresError> {
        for _ in 1..ATTEMPTS {
            match Self::attempt(installation, durability, settings, kept) {
                Err(LocalPostgresError::DidNotStart { log }) if log.contains("could not bind") => {}
                Err(LocalPostgresError::DidNotStart { .. }) if kept.is_some() => {
                    return Self::start_from(installation, durability, settings, None);
                }
                outcome => return outcome,
            }
        }
        Self::attempt(installation, durability, settings, kept)
    }

    /// The current state of the server. Does not wait.
    pub fn state(&mut self) -> ServerState {
        if self.directory.server_has_ended() {
            ServerState::Ended
        } else if self.watcher.has_ended() {
            // The watcher no longer reports the state of the server.
            let answers = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port())).is_ok();
            if answers { ServerState::Ready } else { ServerState::Ended }
        } else if self.directory.server_is_ready() {
            ServerState::Ready
        } else {
            ServerState::Starting
        }
    }

    /// Starts a server again that has ended: on the same data, at the same port, with the same passwords.
    /// Committed data is still there, as after any crash of a Postgres. Does not wait; [`state`](Self::state)
    /// shows the progress. Does nothing to a server that has not ended.
    ///
    /// # Errors
    /// When its watcher was killed too. Then nothing can start the server again.
    pub fn start_again(&mut self) -> Result<(), LocalPostgresError> {
        if self.state() != ServerState::Ended {
            return Ok(());
        }
        let failed = |source| LocalPostgresError::System { what: "another start of PostgreSQL", source };
        if self.watcher.has_ended() {
            return Err(LocalPostgresError::WatcherKilled);
        }
        self.directory.forget_server().map_err(failed)?;
        self.watcher.run_again().map_err(failed)
    }

    /// The last lines of its log, joined to one line.
    pub fn last_words(&self) -> String {
        self.directory.log_tail()
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.superuser.port()
    }

    /// The directory with the server's data and log. It is removed with the server.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The path of a program that came with the server, such as `psql` or `pg_dump`.
    pub fn program(&self, name: &str) -> PathBuf {
        self.installation.program(name)
    }

    /// The superuser's address of the maintenance database, password included.
    pub fn superuser_url(&self) -> String {
        self.superuser.url("postgres")
    }

    /// The superuser's address of the database `name`, password included.
    pub fn database_url(&self, name: &str) -> Result<String, LocalPostgresError> {
        Ok(self.superuser.url(DatabaseName::parse(name)?.as_str()))
    }

    /// A database that the server has.
    pub fn database(&self, name: &str) -> Result<LocalDatabase, LocalPostgresError> {
        Ok(LocalDatabase::new(&self.superuser, DatabaseName::parse(name)?))
    }

    /// Creates an empty database.
    pub fn create_database(&self, name: &str) -> Result<LocalDatabase, LocalPostgresError> {
        LocalDatabase::create(&self.superuser, DatabaseName::parse(name)?)
    }

    fn attempt(
        installation: &Installation,
        durability: Durability,
        more: &[&str],
        kept: Option<&KeptCluster>,
    ) -> Result<Self, LocalPostgresError> {
        let runs_as = Account::standing_in_for_root()?;
        let password = match kept.and_then(KeptCluster::password) {
            Some(password) => password.to_owned(),
            None => random_word()? + &random_word()?,
        };
        let port = free_port()
            .map_err(|source| LocalPostgresError::System { what: "a free port on 127.0.0.1", source })?;
        let directory = Directory::make(durability, runs_as, &password)?;
        let settings = settings(durability, directory.path(), port, more);
        let mut watcher = Watcher::start(installation, directory.path(), runs_as, &settings)?;
        let origin = kept.map_or(Origin::Initdb, |kept| origin(kept, &directory, runs_as));
        watcher
            .make_cluster(origin)
            .map_err(|source| LocalPostgresError::System { what: "a new cluster", source })?;
        wait_until_ready(&directory)?;
        let server = Self {
            superuser: Superuser::new(port, password),
            templates: Templates::default(),
            databases_made: AtomicU64::new(0),
            installation: installation.clone(),
            directory,
            watcher,
        };
        if let (Some(kept), Origin::Keep) = (kept, origin) {
            server.give_to(kept);
        }
        Ok(server)
    }
}

impl fmt::Debug for LocalPostgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (port, directory) = (self.port(), self.directory());
        f.debug_struct("LocalPostgres")
            .field("port", &port)
            .field("directory", &directory)
            .finish_non_exhaustive()
    }
}

/// Where the cluster comes from, if this program can keep one. A kept cluster is put where the watcher reads it.
fn origin(kept: &KeptCluster, directory: &Directory, runs_as: Option<Account>) -> Origin {
    if kept.password().is_none() {
        Origin::Keep
    } else if directory.receive(&kept.archive(), runs_as).is_ok() {
        Origin::Copy
    } else {
        Origin::Initdb
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// The server's command line: `-c name=value` for each setting.
fn settings(durability: Durability, directory: &Path, port: u16, more: &[&str]) -> Vec<String> {
    let mut settings = vec![
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        format!("unix_socket_directories={}", directory.display()),
        "max_connections=300".to_owned(),
        "shared_buffers=128MB".to_owned(),
        // In the directory of the data, which the watcher removes. What is in `/dev/shm` itself outlives a killed server.
        "dynamic_shared_memory_type=mmap".to_owned(),
        "timezone=UTC".to_owned(),
        "log_timezone=UTC".to_owned(),
    ];
    match durability {
        Durability::Durable => {}
        // `synchronous_commit` stays on: the programs under test require it, and without fsync it costs
        // nothing. A session that compiles a query loads LLVM first, which takes longer than any query of a test.
        Durability::Throwaway => {
            settings.extend(["fsync=off", "full_page_writes=off", "jit=off"].map(str::to_owned));
        }
    }
    // Of a setting that is given twice, Postgres takes the last.
    settings.extend(more.iter().map(ToString::to_string));
    settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]).collect()
}

/// Waits until the server takes connections.
fn wait_until_ready(directory: &Directory) -> Result<(), LocalPostgresError> {
    poll(|| directory.server_is_ready() || directory.server_has_ended());
    if directory.server_is_ready() {
        return Ok(());
    }
    Err(LocalPostgresError::DidNotStart { log: directory.log_tail() })
}

/// Waits until a server that was told to end has ended.
pub(crate) fn wait_until_ended(directory: &Directory) -> io::Result<()> {
    poll(|| directory.server_has_ended());
    if directory.server_has_ended() { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
}

#[expect(
    clippy::disallowed_methods,
    reason = "polls with a deadline, on a thread that has nothing else to do"
)]
fn poll(is_so: impl Fn() -> bool) {
    for _ in 0..POLLS {
        if is_so() {
            break;
        }
        thread::sleep(POLL);
    }
}
