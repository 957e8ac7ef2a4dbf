//! The server's own directory: data, socket, log and, during the start, the password and a packed cluster.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::statvfs;

use crate::{Durability, LocalPostgresError, account::Account, kept::ARCHIVE};

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
        let name = format!("vendgate-pg-{}", random_word()?);
        if durability == Durability::Throwaway && owner.is_some() && has_room(MEMORY) {
            let path = Path::new(MEMORY).join(&name);
            if Self::make_at(&path, owner, password).is_ok() {
                return Ok(Self { path });
            }
        }
        let path = place(durability).join(name);
        match Self::make_at(&path, owner, password) {
            Ok(()) => Ok(Self { path }),
            Err(source) => Err(LocalPostgresError::Directory { path, source }),
        }
    }

    fn make_at(path: &Path, owner: Option<Account>, password: &str) -> io::Result<()> {
        Self::fill(path, owner, password).inspect_err(|_source| {
            // No watcher runs yet. If the removal fails too, the first error is the one to report.
            let _: io::Result<()> = fs::remove_dir_all(path);
        })
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

    /// The packed cluster that the watcher reads or writes.
    pub(crate) fn archive(&self) -> PathBuf {
        self.path.join(ARCHIVE)
    }

    /// Puts a packed cluster where the watcher reads it.
    pub(crate) fn receive(&self, archive: &Path, owner: Option<Account>) -> io::Result<()> {
        // The server's user may write here. So root follows no link here.
        let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.archive())?;
        io::copy(&mut File::open(archive)?, &mut copy)?;
        owner.map_or(Ok(()), |owner| owner.owns_open(&copy))
    }

    /// Whether the last line of the lock file says that the server takes connections. The lock file of an
    /// earlier server that was killed begins with another process id.
    pub(crate) fn server_is_ready(&self) -> bool {
        let read = |name: &str| fs::read_to_string(self.path.join(name)).unwrap_or_default();
        let (server, lock_file) = (read("server"), read("data/postmaster.pid"));
        let is_its_own = lock_file.lines().next().is_some_and(|id| id.trim() == server.trim());
        is_its_own && lock_file.lines().nth(7).is_some_and(|line| line.trim() == "ready")
    }

    /// The process of the server.
    pub(crate) fn server(&self) -> io::Result<i32> {
        fs::read_to_string(self.path.join("server"))?.trim().parse().map_err(io::Error::other)
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

/// Memory as a file system. A database of a test is copied several times faster there, because a disk's file system writes
/// down each of its 300 files.
///
/// It is used only if this process is root, so that the server runs as a system's user: a system may remove what other
/// users have there when they log out.
const MEMORY: &str = "/dev/shm";

/// More than the databases of one program of tests take at a time.
const MEMORY_NEEDED: u64 = 4 << 30;

/// A short path that every user can reach. A socket's path has at most 107 bytes, and root's home is closed
/// to others.
///
/// Durable data belongs on a disk. `/tmp` may be in memory, where syncing would cost nothing.
fn place(durability: Durability) -> PathBuf {
    let places = match durability {
        Durability::Durable => ["/var/tmp", "/tmp"],
        Durability::Throwaway => ["/tmp", "/var/tmp"],
    };
    places.iter().map(PathBuf::from).find(|place| place.is_dir()).unwrap_or_else(std::env::temp_dir)
}

/// Whether a file system in memory has room, and the machine has the memory for it. Containers often have a `/dev/shm` of
/// 64 MiB.
fn has_room(place: &str) -> bool {
    let free = statvfs(place).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize));
    let available = fs::read_to_string("/proc/meminfo").map_or(0, |text| available_bytes(&text));
    free.min(available) >= MEMORY_NEEDED
}

/// What the kernel says a program can still take without swapping.
fn available_bytes(meminfo: &str) -> u64 {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib =
        line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|number| number.parse::<u64>().ok());
    kib.unwrap_or_default().saturating_mul(1_024)
}

/// 64 random bits from the system, as 16 hexadecimal digits.
pub(crate) fn random_word() -> Result<String, LocalPostgresError> {
    match getrandom::u64() {
        Ok(bits) => Ok(format!("{bits:016x}")),
        Err(error) => Err(LocalPostgresError::System { what: "randomness", source: error.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_the_kernel_does_not_tell_is_none() {
        assert_eq!(available_bytes("MemTotal: 9 kB\nMemAvailable:    4096 kB\n"), 4096 * 1024);
        assert_eq!(available_bytes("MemTotal: 9 kB\n"), 0);
    }
}
