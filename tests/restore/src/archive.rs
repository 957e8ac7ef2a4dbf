//! Base copies and the streamed write-ahead log, as docs/operations/INSTALL.md has them without pgBackRest.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::PathBuf,
    process::Child,
    time::Duration,
};

use acceptance::{
    fault_injection::FaultEnv,
    time::{Deadline, pause},
};

use crate::{Failure, server::Account};

const STREAMS_WITHIN: Duration = Duration::from_secs(30);
/// The name by which the server knows the archive.
const NAME: &str = "wal_archive";

/// The archive of one server. Each commit waits for it.
pub struct Archive<'a> {
    env: &'a FaultEnv,
    account: Account,
    directory: PathBuf,
    receiver: Child,
}

impl<'a> Archive<'a> {
    /// Begins to stream the log of the server into this directory.
    pub async fn begin(env: &'a FaultEnv, account: Account, directory: PathBuf) -> Result<Self, Failure> {
        let postgres = env.sandbox.postgres().ok_or("the sandbox has no Postgres of its own")?;
        let log = directory.join("wal");
        fs::create_dir_all(&log)?;
        account.owns(&directory)?;
        account.owns(&log)?;
        let database = env.sandbox.database();
        database.run_sql(&format!("SELECT pg_create_physical_replication_slot('{NAME}')"))?;
        let mut command =
            account.runs(&postgres.program("pg_receivewal"), &directory.join("receiver.log"))?;
        command.args(["--slot", NAME, "--synchronous", "-D"]).arg(&log);
        command.arg("-d").arg(format!("{}?application_name={NAME}", postgres.superuser_url()));
        let archive = Self { env, account, directory, receiver: command.spawn()? };
        database.run_sql(&format!("ALTER SYSTEM SET synchronous_standby_names = '{NAME}'"))?;
        database.run_sql("SELECT pg_reload_conf()")?;
        let is_synchronous = format!(
            "SELECT count(*) FROM pg_stat_replication WHERE application_name = '{NAME}' AND sync_state = 'sync'"
        );
        let deadline = Deadline::after(STREAMS_WITHIN);
        while database.run_sql(&is_synchronous).ok().as_deref() != Some("1") {
            if deadline.is_over() {
                return Err("the archive does not stream".into());
            }
            pause(Duration::from_millis(50)).await;
        }
        Ok(archive)
    }

    /// Makes a base copy, while the server sells.
    pub fn copy(&self, day: &str) -> Result<(), Failure> {
        let postgres = self.env.sandbox.postgres().ok_or("the sandbox has no Postgres of its own")?;
        let mut command =
            self.account.runs(&postgres.program("pg_basebackup"), &self.directory.join("copies.log"))?;
        command.args(["--wal-method", "none", "--checkpoint", "fast", "--no-sync", "--pgdata"]);
        let copied =
            command.arg(self.directory.join(day)).arg("-d").arg(postgres.superuser_url()).status()?;
        if copied.success() { Ok(()) } else { Err(format!("no base copy {day}: {copied}").into()) }
    }

    /// Ends the stream, after its server was destroyed, and prepares the data of a base copy for the recovery: to the end of the
    /// log, or to this moment, as Postgres writes it.
    pub fn restore(mut self, day: &str, moment: Option<&str>) -> Result<PathBuf, Failure> {
        self.receiver.kill()?;
        self.receiver.wait()?;
        let data = self.directory.join(day);
        let wal = self.directory.join("wal");
        let mut settings = OpenOptions::new().append(true).open(data.join("postgresql.auto.conf"))?;
        writeln!(settings, "synchronous_standby_names = ''")?;
        writeln!(settings, "restore_command = 'cp {0}/%f %p || cp {0}/%f.partial %p'", wal.display())?;
        if let Some(moment) = moment {
            writeln!(settings, "recovery_target_time = '{moment}'")?;
            writeln!(settings, "recovery_target_action = 'promote'")?;
        }
        let signal = data.join("recovery.signal");
        fs::write(&signal, "")?;
        self.account.owns(&signal)?;
        Ok(data)
    }
}

impl Drop for Archive<'_> {
    fn drop(&mut self) {
        let _ended_before = self.receiver.kill();
        let _reaped_before = self.receiver.wait();
    }
}
