//! The server that all tests of a process share.

use std::{error::Error, fs, io, sync::OnceLock};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    Durability, LocalPostgres, LocalPostgresError,
    database::DatabaseName,
    installation::Installation,
    kept::{Contents, KeptCluster},
    server::wait_until_ended,
};

static SHARED: OnceLock<Result<LocalPostgres, LocalPostgresError>> = OnceLock::new();

impl LocalPostgres {
    /// The server that all tests of this process share. The first caller starts it, and it ends with the
    /// process.
    ///
    /// # Panics
    /// When no server can be started, because no test that needs one can continue.
    pub fn shared() -> &'static Self {
        shared_or(|| Self::start(Durability::Throwaway))
    }

    /// The same server. If this call starts it, it has the template `template`, which `prepare` fills. What it has filled is
    /// kept in the build directory for other processes, until `version` changes. So `version` must change with everything
    /// that the template contains. `prepare` must not use the shared server.
    ///
    /// # Panics
    /// As [`shared`](Self::shared), and when the template cannot be prepared.
    pub fn shared_with_template<E>(
        template: &str,
        version: &str,
        prepare: impl Fn(&str) -> Result<(), E> + Send + Sync,
    ) -> &'static Self
    where
        E: Into<Box<dyn Error + Send + Sync>> + Send,
    {
        shared_or(|| Self::start_with_template(template, version, &prepare))
    }

    fn start_with_template<E>(
        template: &str,
        version: &str,
        prepare: &(impl Fn(&str) -> Result<(), E> + Send + Sync),
    ) -> Result<Self, LocalPostgresError>
    where
        E: Into<Box<dyn Error + Send + Sync>> + Send,
    {
        let name = DatabaseName::parse(template)?;
        let installation = Installation::find_or_install()?;
        let find = || KeptCluster::of(&installation, Contents { name: template, version });
        if let Some(kept) = find().filter(|kept| kept.password().is_none()) {
            let first = Self::start(Durability::Throwaway)?;
            first.ensure_template(&name, prepare)?;
            // What is not kept is prepared again below.
            let _: Result<(), LocalPostgresError> = first.keep(&kept);
        }
        let server = match find().filter(|kept| kept.password().is_some()) {
            Some(kept) => Self::start_from(&installation, Durability::Throwaway, &[], Some(&kept))?,
            None => Self::start(Durability::Throwaway)?,
        };
        server.ensure_template(&name, prepare)?;
        Ok(server)
    }

    /// Shuts the server down, and keeps its cluster.
    fn keep(mut self, kept: &KeptCluster) -> Result<(), LocalPostgresError> {
        let failed = |source| LocalPostgresError::System { what: "a cluster to keep", source };
        self.directory.server().and_then(shut_down).map_err(failed)?;
        wait_until_ended(&self.directory).map_err(failed)?;
        self.directory.forget_server().map_err(failed)?;
        self.watcher.archive_cluster().map_err(failed)?;
        wait_until_ended(&self.directory).map_err(failed)?;
        self.give_to(kept);
        Ok(())
    }

    /// Gives the cluster that the watcher has packed to its place. What is not kept is prepared again by the next process.
    pub(crate) fn give_to(&self, kept: &KeptCluster) {
        let archive = self.directory.archive();
        let _: io::Result<()> = kept.keep(&archive, self.superuser.password());
        let _: io::Result<()> = fs::remove_file(archive);
    }
}

fn shared_or(start: impl FnOnce() -> Result<LocalPostgres, LocalPostgresError>) -> &'static LocalPostgres {
    match SHARED.get_or_init(start) {
        Ok(server) => server,
        #[expect(clippy::panic, reason = "without a server no test of this process can run")]
        Err(error) => panic!("{}", chain(error)),
    }
}

/// Tells the server to end its sessions, to write everything down, and to end.
fn shut_down(server: i32) -> io::Result<()> {
    // The file is the server's user's. A process group, or the first process, is none of ours.
    let server = Pid::from_raw(server).filter(|_| server > 1).ok_or(io::ErrorKind::NotFound)?;
    Ok(kill_process(server, Signal::INT)?)
}

/// An error with all its causes, on one line.
fn chain(error: &LocalPostgresError) -> String {
    let mut sentence = error.to_string();
    let mut cause = Error::source(error);
    while let Some(source) = cause {
        sentence = format!("{sentence}: {source}");
        cause = source.source();
    }
    sentence
}
