//! The server's own directory: data, socket, log and, during the start, the password.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use crate::{Durability, LocalPostgresError, account::Account};

/// A directory that only the server's user can enter. The server's watcher removes it.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    /// Makes the directory with the password for `initdb` in it, and gives both to `owner`.
    pub(crate) fn make(
        durability: Durability,
        owner: Option<Account>,
        password: &str,
    ) -> Result<Self, LocalPostgresError> {
        let path = place(durability).join(format!("vendgate-pg-{}", random_word()?));
        match Self::fill(&path, owner, password) {
            Ok(()) => Ok(Self { path }),
            Err(source) => {
                // No watcher runs yet. If the removal fails too, the first error is the one to report.
                let _: io::Result<()> = fs::remove_dir_all(&path);
                Err(LocalPostgresError::Directory { path, source })
            }
        }
    }

    fn fill(path: &Path, owner: Option<Account>, password: &str) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(path)?;
        let password_file = path.join("password");
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&password_file)?
            .write_all(password.as_bytes())?;
        if let Some(owner) = owner {
            owner.owns(&password_file)?;
            owner.owns(path)?;
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the last line of the lock file says that the server takes connections. The lock file of an
    /// earlier server that was killed begins with another process id.
    pub(crate) fn server_is_ready(&self) -> bool {
        let read = |name: &str| fs::read_to_string(self.path.join(name)).unwrap_or_default();
        let (server, lock_file) = (read("server"), read("data/postmaster.pid"));
        let is_its_own = lock_file.lines().next().is_some_and(|id| id.trim() == server.trim());
        is_its_own && lock_file.lines().nth(7).is_some_and(|line| line.trim() == "ready")
    }

    /// Whether the watcher reported that the server, or its preparation, has ended.
    pub(crate) fn server_has_ended(&self) -> bool {
        self.path.join("ended").exists()
    }

    /// Removes the marks of the server that ended, so that the next server is not mistaken for it.
    pub(crate) fn forget_server(&self) -> io::Result<()> {
        for name in ["server", "ended"] {
            match fs::remove_file(self.path.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// The last lines of the server's log.
    pub(crate) fn log_tail(&self) -> String {
        let log = fs::read(self.path.join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join(" | ")
    }
}

/// A short path that every user can reach. A socket's path has at most 107 bytes, and root's home is closed
/// to others.
fn place(durability: Durability) -> PathBuf {
    // Durable data belongs on a disk. `/tmp` may be in memory, where syncing would cost nothing.
    let places = match durability {
        Durability::Durable => ["/var/tmp", "/tmp"],
        Durability::Throwaway => ["/tmp", "/var/tmp"],
    };
    places.iter().map(PathBuf::from).find(|place| place.is_dir()).unwrap_or_else(std::env::temp_dir)
}

/// 64 random bits from the system, as 16 hexadecimal digits.
pub(crate) fn random_word() -> Result<String, LocalPostgresError> {
    match getrandom::u64() {
        Ok(bits) => Ok(format!("{bits:016x}")),
        Err(error) => Err(LocalPostgresError::System { what: "randomness", source: error.into() }),
    }
}
