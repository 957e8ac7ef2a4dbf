//! Clusters that are kept in the build directory: to make one, or to migrate its databases, takes several times as long as a
//! copy.
//!
//! The programs that cargo has built in one directory share them, and `cargo clean` removes them. A program elsewhere has none,
//! and makes each cluster anew.

use std::{
    env,
    fs::{self, DirBuilder, Metadata, OpenOptions},
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::{fs::OFlags, process::geteuid};

use crate::{directory::random_word, installation::Installation, watcher};

/// Cargo writes this file into each build directory.
const MARK: &str = ".rustc_info.json";

/// A packed cluster, here and in the directory of a server.
pub(crate) const ARCHIVE: &str = "cluster.tar";

/// What a kept cluster contains.
#[derive(Debug, Clone, Copy, Hash)]
pub(crate) struct Contents<'a> {
    /// A word for the name of its place.
    pub(crate) name: &'a str,
    /// What all of it depends on, beside Postgres.
    pub(crate) version: &'a str,
}

impl Contents<'_> {
    /// What `initdb` has made. No database can have this name.
    pub(crate) const NEW: Self = Self { name: "new-cluster", version: "" };
}

/// The place of a cluster, and of its superuser's password. Only this user can enter it.
#[derive(Debug)]
pub(crate) struct KeptCluster {
    directory: PathBuf,
    /// `None` if no cluster was kept when this was read.
    password: Option<String>,
}

impl KeptCluster {
    /// The place for what this installation makes. `None` if this program is in no build directory of this user. Another user
    /// could put a cluster there that runs programs of its own.
    pub(crate) fn of(installation: &Installation, contents: Contents<'_>) -> Option<Self> {
        let program = env::current_exe().ok()?;
        let build = program.ancestors().find(|directory| directory.join(MARK).is_file())?;
        is_our_own(&fs::metadata(build).ok()?).then_some(())?;
        Some(Self::in_directory(&build.join("clusters"), installation, contents))
    }

    /// Another version of Postgres, or another way to make a cluster, has another place.
    fn in_directory(clusters: &Path, installation: &Installation, contents: Contents<'_>) -> Self {
        let mut hasher = DefaultHasher::new();
        (installation.bin(), installation.banner(), watcher::SCRIPT, contents).hash(&mut hasher);
        let directory = clusters.join(format!("{}-{:016x}", contents.name, hasher.finish()));
        let password = password_in(&directory);
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

    /// Keeps a packed cluster, and removes those that it replaces. If another process has kept one meanwhile, that one stays.
    pub(crate) fn keep(&self, archive: &Path, password: &str) -> io::Result<()> {
        let word = random_word().map_err(io::Error::other)?;
        let part = self.directory.with_extension(word);
        let kept = fill(&part, archive, password).and_then(|()| fs::rename(&part, &self.directory));
        // It also fails when another process was first.
        kept.or_else(|error| fs::remove_dir_all(&part).and(Err(error)))?;
        self.earlier()?.iter().try_for_each(fs::remove_dir_all)
    }

    /// Those with the same name that depend on something else. They were kept before a migration was changed, for example.
    fn earlier(&self) -> io::Result<Vec<PathBuf>> {
        let name = |path: &Path| Some(path.file_name()?.to_str()?.rsplit_once('-')?.0.to_owned());
        let is_earlier = |path: &PathBuf| {
            *path != self.directory && path.extension().is_none() && name(path) == name(&self.directory)
        };
        let clusters = self.directory.parent().unwrap_or(&self.directory);
        let all = fs::read_dir(clusters)?.map(|entry| entry.map(|entry| entry.path()));
        Ok(all.collect::<io::Result<Vec<_>>>()?.into_iter().filter(is_earlier).collect())
    }
}

fn is_our_own(found: &Metadata) -> bool {
    found.uid() == geteuid().as_raw()
}

/// The password of a cluster that only this user can have put there.
fn password_in(directory: &Path) -> Option<String> {
    let found = fs::symlink_metadata(directory).ok()?;
    let is_private = found.is_dir() && is_our_own(&found) && found.mode() & 0o777 == 0o700;
    let password = is_private.then(|| fs::read_to_string(directory.join("password")).ok())??;
    (!password.is_empty()).then_some(password)
}

/// Both files are synced, because they may outlive a crash of the machine.
fn fill(directory: &Path, archive: &Path, password: &str) -> io::Result<()> {
    DirBuilder::new().mode(0o700).recursive(true).create(directory)?;
    // The server's user may write where the archive is. So root follows no link there.
    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).map_err(io::Error::other)?;
    let mut packed = OpenOptions::new().read(true).custom_flags(no_link).open(archive)?;
    let mut new = OpenOptions::new();
    let new = new.write(true).create_new(true).mode(0o600);
    let mut copy = new.open(directory.join(ARCHIVE))?;
    io::copy(&mut packed, &mut copy)?;
    copy.sync_all()?;
    let mut secret = new.open(directory.join("password"))?;
    secret.write_all(password.as_bytes())?;
    secret.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_kept_first_stays_until_it_is_replaced_and_only_its_user_can_read_it() {
        let scratch = env::temp_dir().join(format!("vendgate-kept-{}", random_word().unwrap()));
        fs::create_dir(&scratch).unwrap();
        let packed = scratch.join("packed");
        fs::write(&packed, "a cluster").unwrap();
        let (clusters, installation) = (scratch.join("clusters"), Installation::find_or_install().unwrap());
        let place =
            |name, version| KeptCluster::in_directory(&clusters, &installation, Contents { name, version });
        let absent = place("migrated", "1");
        assert_eq!(absent.password(), None);
        absent.keep(&packed, "first").unwrap();
        absent.keep(&packed, "second").unwrap_err();
        let kept = place("migrated", "1");
        assert_eq!(kept.password(), Some("first"));
        assert_eq!(fs::read_to_string(kept.archive()).unwrap(), "a cluster");
        let mode = fs::metadata(&kept.directory).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(fs::read_dir(&clusters).unwrap().count(), 1, "no part of the second is left");
        fs::set_permissions(&kept.directory, fs::Permissions::from_mode(0o750)).unwrap();
        assert_eq!(place("migrated", "1").password(), None, "others may have written it");

        place("new", "").keep(&packed, "third").unwrap();
        place("migrated", "2").keep(&packed, "fourth").unwrap();
        assert_eq!(place("migrated", "1").password(), None, "it is replaced");
        assert_eq!(place("migrated", "2").password(), Some("fourth"));
        assert_eq!(place("new", "").password(), Some("third"));
        fs::remove_dir_all(scratch).unwrap();
    }
}
