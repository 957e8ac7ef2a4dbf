//! A new cluster that is kept in the build directory: `initdb` takes seven times as long as a copy of what it has made.
//!
//! The programs that cargo has built in one directory share it, and `cargo clean` removes it. A program elsewhere has none,
//! and makes each cluster anew.

use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions},
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use crate::{directory::random_word, installation::Installation, watcher};

/// With this file, cargo marks a build directory as one that can be made again.
const MARK: &str = "CACHEDIR.TAG";

/// A packed cluster, here and in the directory of a server.
pub(crate) const ARCHIVE: &str = "cluster.tar";

/// The place of a cluster that nothing has been done to, and of its superuser's password. Only this user can enter it.
#[derive(Debug)]
pub(crate) struct KeptCluster {
    directory: PathBuf,
    /// `None` if no cluster was kept when this was read.
    password: Option<String>,
}

impl KeptCluster {
    /// The place for what this installation makes. `None` if this program is in no build directory.
    pub(crate) fn of(installation: &Installation) -> Option<Self> {
        let program = env::current_exe().ok()?;
        let build = program.ancestors().find(|directory| directory.join(MARK).is_file())?;
        Some(Self::in_directory(&build.join("clusters"), installation))
    }

    /// Another version of Postgres, or another way to make a cluster, has another place.
    fn in_directory(clusters: &Path, installation: &Installation) -> Self {
        let mut hasher = DefaultHasher::new();
        (installation.bin(), installation.banner(), watcher::SCRIPT).hash(&mut hasher);
        let directory = clusters.join(format!("{:016x}", hasher.finish()));
        let password = fs::read_to_string(directory.join("password")).ok();
        Self { directory, password }
    }

    /// The password of the superuser. `None` if no cluster is kept yet.
    pub(crate) fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// The cluster, packed by `tar`.
    pub(crate) fn archive(&self) -> PathBuf {
        self.directory.join(ARCHIVE)
    }

    /// Keeps a packed cluster. If another process has kept one meanwhile, that one stays.
    pub(crate) fn keep(&self, archive: &Path, password: &str) -> io::Result<()> {
        let word = random_word().map_err(io::Error::other)?;
        let part = self.directory.with_extension(word);
        let kept = fill(&part, archive, password).and_then(|()| fs::rename(&part, &self.directory));
        kept.or_else(|_another_was_first| fs::remove_dir_all(&part))
    }
}

fn fill(directory: &Path, archive: &Path, password: &str) -> io::Result<()> {
    DirBuilder::new().mode(0o700).recursive(true).create(directory)?;
    fs::copy(archive, directory.join(ARCHIVE))?;
    // It outlives this process, and perhaps a crash of the machine.
    File::open(directory.join(ARCHIVE))?.sync_all()?;
    let mut secret = OpenOptions::new();
    let secret = secret.write(true).create_new(true).mode(0o600);
    secret.open(directory.join("password"))?.write_all(password.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_kept_first_stays_and_only_its_user_can_read_it() {
        let scratch = env::temp_dir().join(format!("vendgate-kept-{}", random_word().unwrap()));
        fs::create_dir(&scratch).unwrap();
        let packed = scratch.join("packed");
        fs::write(&packed, "a cluster").unwrap();
        let (clusters, installation) = (scratch.join("clusters"), Installation::find_or_install().unwrap());
        let absent = KeptCluster::in_directory(&clusters, &installation);
        assert_eq!(absent.password(), None);
        absent.keep(&packed, "first").unwrap();
        absent.keep(&packed, "second").unwrap();
        let kept = KeptCluster::in_directory(&clusters, &installation);
        assert_eq!(kept.password(), Some("first"));
        assert_eq!(fs::read_to_string(kept.archive()).unwrap(), "a cluster");
        let mode = fs::metadata(&kept.directory).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(fs::read_dir(clusters).unwrap().count(), 1, "no part of the second is left");
        fs::remove_dir_all(scratch).unwrap();
    }
}
