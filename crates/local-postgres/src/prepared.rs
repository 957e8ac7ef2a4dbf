//! Servers whose cluster is prepared once and then copied.

use std::{fs, io};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    Durability, LocalPostgres, LocalPostgresError,
    database::DatabaseName,
    directory::random_word,
    installation::Installation,
    kept::{Contents, KeptCluster},
    server::wait_until_ended,
    superuser::Superuser,
};

impl LocalPostgres {
    /// [`start_with`](Self::start_with), and the cluster contains what `prepare` puts into it. The first server is kept in the build
    /// directory when it is prepared, under `name`, until `version` changes, and all others are copies of it. So `version` must
    /// change with everything that `prepare` does. A durable copy gets a password of its own.
    ///
    /// `prepare` must leave a server alone that is already prepared.
    ///
    /// # Errors
    /// As [`start`](Self::start), and those of `prepare`.
    pub fn start_prepared<E: From<LocalPostgresError>>(
        durability: Durability,
        settings: &[&str],
        (name, version): (&str, &str),
        prepare: impl Fn(&Self) -> Result<(), E>,
    ) -> Result<Self, E> {
        let name = DatabaseName::parse(name)?;
        let contents = Contents { name: name.as_str(), version };
        let installation = Installation::find_or_install()?;
        let find = || KeptCluster::of(&installation, contents);
        if let Some(kept) = find().filter(|kept| kept.password().is_none()) {
            let first = Self::start(Durability::Throwaway)?;
            prepare(&first)?;
            // What is not kept is prepared again below.
            let _: Result<(), LocalPostgresError> = first.keep(&kept);
        }
        let mut server = match find().filter(|kept| kept.password().is_some()) {
            Some(kept) => Self::start_from(&installation, durability, settings, Some(&kept))?,
            None => Self::start_with(durability, settings)?,
        };
        prepare(&server)?;
        match durability {
            Durability::Durable => server.replace_password()?,
            Durability::Throwaway => {}
        }
        Ok(server)
    }

    /// Gives the superuser a password that is not kept anywhere.
    fn replace_password(&mut self) -> Result<(), LocalPostgresError> {
        let password = random_word()? + &random_word()?;
        self.superuser.maintains(&format!("ALTER ROLE postgres PASSWORD '{password}'"))?;
        self.superuser = Superuser::new(self.port(), password);
        Ok(())
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

/// Tells the server to end its sessions, to write everything down, and to end.
fn shut_down(server: i32) -> io::Result<()> {
    // The file is the server's user's. A process group, or the first process, is none of ours.
    let server = Pid::from_raw(server).filter(|_| server > 1).ok_or(io::ErrorKind::NotFound)?;
    Ok(kill_process(server, Signal::INT)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durable_servers_contain_what_was_prepared_and_each_has_a_password_of_its_own() {
        let prepare = |server: &LocalPostgres| {
            let database = server.database("postgres")?;
            database.run_sql("CREATE TABLE IF NOT EXISTS meter AS SELECT '04123456789' AS number").map(drop)
        };
        let start = || {
            LocalPostgres::start_prepared(Durability::Durable, &[], ("durable_meters", "1"), prepare).unwrap()
        };
        let servers: [LocalPostgres; 2] = [start(), start()];
        for server in &servers {
            let database = server.database("postgres").unwrap();
            assert_eq!(database.run_sql("SELECT number FROM meter").unwrap(), "04123456789");
            assert_eq!(database.run_sql("SHOW fsync").unwrap(), "on");
        }
        let [one, other] = servers;
        let mistaken = Superuser::new(one.port(), other.superuser.password().to_owned());
        let refused = mistaken.maintains("SELECT 1").unwrap_err().to_string();
        assert!(refused.contains("password authentication failed"), "{refused}");
    }

    #[test]
    fn what_cannot_be_prepared_is_not_kept() {
        let fails = |_: &LocalPostgres| Err(LocalPostgresError::WatcherKilled);
        let contents = ("never_prepared", "1");
        LocalPostgres::start_prepared(Durability::Throwaway, &[], contents, fails).unwrap_err();
        let installation = Installation::find_or_install().unwrap();
        let place = KeptCluster::of(&installation, Contents { name: contents.0, version: contents.1 });
        assert!(place.is_none_or(|place| place.password().is_none()));
    }
}
