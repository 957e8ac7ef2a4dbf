//! The shell script that runs the server. It ends shortly after its owner and removes the server's directory.
//!
//! `Drop` does not run when a process is killed, and never for a `static`. A pipe is closed in every case.

use std::{
    fs,
    io::{self, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

use crate::{LocalPostgresError, account::Account, installation::Installation};

pub(crate) const SCRIPT: &str = include_str!("watcher.sh");

/// Where a new cluster comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// From the archive that the owner has put into the directory.
    Copy,
    /// From `initdb`.
    Initdb,
    /// From `initdb`. The cluster is also archived in the directory, before the server starts.
    Keep,
}

/// A running watcher. The server can run only while the watcher runs. When the watcher is dropped, both end.
#[derive(Debug)]
pub(crate) struct Watcher {
    process: Child,
    /// The pipe whose closing ends the server.
    pipe: Option<ChildStdin>,
}

impl Watcher {
    /// Starts the watcher of the server in `directory`, with `settings` on its command line. The server starts when the
    /// watcher [is told](Self::make_cluster) where its cluster comes from.
    pub(crate) fn start(
        installation: &Installation,
        directory: &Path,
        runs_as: Option<Account>,
        settings: &[String],
    ) -> Result<Self, LocalPostgresError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "watcher.sh"]).arg(installation.bin()).arg(directory).args(settings);
        command.env_clear().env("LC_ALL", "C").env("PATH", "/usr/local/bin:/usr/bin:/bin");
        // A database whose `lc_messages` is not C speaks German, where the translations are installed.
        command.env("LANGUAGE", "de");
        command.current_dir(directory);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Its own process group, so that a Ctrl-C in a terminal stops the owner first, in good order.
        command.process_group(0);
        if let Some(account) = runs_as {
            account.runs(&mut command);
        }
        let mut process = command.spawn().map_err(|source| {
            // No watcher runs to clean up. The error to report is that the shell cannot be run.
            let _: io::Result<()> = fs::remove_dir_all(directory);
            LocalPostgresError::CannotRun { program: "/bin/sh".into(), source }
        })?;
        let pipe = process.stdin.take();
        Ok(Self { process, pipe })
    }

    /// Makes the cluster, and then runs the server.
    pub(crate) fn make_cluster(&mut self, origin: Origin) -> io::Result<()> {
        self.tell(match origin {
            Origin::Copy => b"copy\n",
            Origin::Initdb => b"initdb\n",
            Origin::Keep => b"keep\n",
        })
    }

    /// Runs the server again after it has ended.
    pub(crate) fn run_again(&mut self) -> io::Result<()> {
        self.tell(b"again\n")
    }

    /// Archives the cluster of a server that was shut down. It is reported as ended again when that is done.
    pub(crate) fn archive_cluster(&mut self) -> io::Result<()> {
        self.tell(b"keep\n")
    }

    fn tell(&mut self, line: &[u8]) -> io::Result<()> {
        match &mut self.pipe {
            Some(pipe) => pipe.write_all(line),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Whether the watcher itself has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // If waiting fails, the watcher has already ended.
        let _: io::Result<_> = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use super::*;
    use crate::{Durability, directory::Directory};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the moments of a start are some milliseconds apart")]
    fn a_pipe_closed_at_any_moment_of_the_start_ends_the_server_and_its_directory() {
        let installation = Installation::find_or_install().unwrap();
        let runs_as = Account::standing_in_for_root().unwrap();
        let closed_after = &|moment| {
            let directory = Directory::make(Durability::Throwaway, runs_as, "secret").unwrap();
            let socket = format!("unix_socket_directories={}", directory.path().display());
            let settings = ["-c", "listen_addresses=", "-c", &socket].map(str::to_owned);
            let mut watcher = Watcher::start(&installation, directory.path(), runs_as, &settings).unwrap();
            watcher.make_cluster(Origin::Keep).unwrap();
            thread::sleep(Duration::from_millis(moment));

            let (ended, has_ended) = mpsc::channel();
            thread::spawn(move || {
                drop(watcher);
                ended.send(()).unwrap();
            });

            has_ended.recv_timeout(Duration::from_secs(30)).expect("the server ends with its pipe");
            assert!(!directory.path().exists(), "closed after {moment} ms");
        };
        thread::scope(|scope| {
            for moment in [0, 50, 200, 400, 500, 600, 700, 800] {
                scope.spawn(move || closed_after(moment));
            }
        });
    }
}
