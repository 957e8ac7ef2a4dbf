//! The server of Postgres that is destroyed, and the one that is started on what was restored.

use std::{
    fs::{self, File},
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use acceptance::{
    fault_injection::FaultEnv,
    time::{Deadline, pause},
};
use rustix::process::{Pid, Signal, kill_process};

use crate::Failure;

/// How long a server may need for the recovery.
const RECOVERED_WITHIN: std::time::Duration = std::time::Duration::from_mins(2);
const POLL: std::time::Duration = std::time::Duration::from_millis(50);

/// The user that Postgres runs as.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    user: u32,
    group: u32,
}

impl Account {
    /// The user that owns the data.
    pub fn of(data: &Path) -> Result<Self, Failure> {
        let found = fs::metadata(data)?;
        Ok(Self { user: found.uid(), group: found.gid() })
    }

    /// Gives it this file or directory.
    pub fn owns(self, path: &Path) -> Result<(), Failure> {
        Ok(chown(path, Some(self.user), Some(self.group))?)
    }

    /// A program of Postgres in its name, which ends with this process.
    pub fn runs(self, program: &Path, log: &Path) -> Result<Command, Failure> {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "QUIT"]).arg(program).uid(self.user).gid(self.group);
        let log = File::options().create(true).append(true).open(log)?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Ok(command)
    }
}

/// A server that runs on these data.
pub struct Server {
    data: PathBuf,
    /// `None` for the server of the sandbox.
    process: Option<Child>,
}

impl Server {
    /// The server that the sandbox has started.
    pub fn of_the_sandbox(env: &FaultEnv) -> Result<Self, Failure> {
        let postgres = env.sandbox.postgres().ok_or("the sandbox has no Postgres of its own")?;
        Ok(Self { data: postgres.directory().join("data"), process: None })
    }

    /// Starts one on restored data, at the address of the one that was destroyed, and waits until it has recovered.
    pub async fn start(env: &FaultEnv, account: Account, data: &Path, log: &Path) -> Result<Self, Failure> {
        let postgres = env.sandbox.postgres().ok_or("the sandbox has no Postgres of its own")?;
        let mut command = account.runs(&postgres.program("postgres"), log)?;
        command.arg("-D").arg(data).arg("-c").arg(format!("port={}", postgres.port()));
        command.args([
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "unix_socket_directories=",
            "-c",
            "fsync=off",
        ]);
        command.args(["-c", "max_connections=300", "-c", "timezone=UTC"]);
        let server = Self { data: data.to_owned(), process: Some(command.spawn()?) };
        let deadline = Deadline::after(RECOVERED_WITHIN);
        let database = env.sandbox.database();
        while database.run_sql("SELECT pg_is_in_recovery()").ok().as_deref() != Some("f") {
            if deadline.is_over() {
                return Err(format!("no recovery within {RECOVERED_WITHIN:?} (see {})", log.display()).into());
            }
            pause(POLL).await;
        }
        Ok(server)
    }

    /// Kills the server and deletes its data.
    pub async fn destroy(mut self) -> Result<(), Failure> {
        let lock = fs::read_to_string(self.data.join("postmaster.pid"))?;
        let id = lock.lines().next().and_then(|line| line.trim().parse().ok()).and_then(Pid::from_raw);
        kill_process(id.ok_or("postmaster.pid names no process")?, Signal::KILL)?;
        if let Some(mut process) = self.process.take() {
            process.wait()?;
        }
        // The other processes of the server notice it by themselves, and write no more.
        let deadline = Deadline::after(RECOVERED_WITHIN);
        while let Err(still_written) = fs::remove_dir_all(&self.data) {
            if deadline.is_over() {
                return Err(still_written.into());
            }
            pause(POLL).await;
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ended_before = process.kill();
            let _reaped_before = process.wait();
        }
    }
}
