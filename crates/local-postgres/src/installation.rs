//! Finds the Postgres installation of this machine.
//!
//! Distributions install the server's programs outside `PATH`, and several versions side by side. So the
//! usual directories are searched. A directory counts only if it contains every program that is needed.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{LocalPostgresError, apt};

/// The oldest supported major version.
const OLDEST: u32 = 15;

/// The prefixes of the paths of installations that exist side by side. A version and `/bin` follow.
const VERSIONED: [&str; 4] =
    ["/usr/lib/postgresql/", "/usr/pgsql-", "/opt/homebrew/opt/postgresql@", "/usr/local/opt/postgresql@"];

/// Directories that hold the programs of one version.
const PLAIN: [&str; 4] =
    ["/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql/bin", "/opt/homebrew/bin", "/usr/local/bin"];

/// A directory with `postgres`, `initdb` and `psql` of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Installation {
    bin: PathBuf,
    banner: String,
}

/// The directory with the server's programs. Installs Postgres if it is missing and can be installed.
///
/// # Errors
/// That there is no Postgres, or why it cannot be installed.
pub fn programs() -> Result<PathBuf, LocalPostgresError> {
    Ok(Installation::find_or_install()?.bin)
}

impl Installation {
    /// The installation to use: an existing one, or else one that apt installs.
    pub(crate) fn find_or_install() -> Result<Self, LocalPostgresError> {
        if let Some(found) = Self::find() {
            return Ok(found);
        }
        if apt::can_install() {
            apt::install_postgres()?;
        }
        Self::find().ok_or(LocalPostgresError::NotInstalled { oldest: OLDEST })
    }

    /// The first complete installation that is new enough. `PATH` is searched first, then the usual
    /// directories.
    fn find() -> Option<Self> {
        candidates().iter().find_map(|bin| Self::in_directory(bin))
    }

    fn in_directory(bin: &Path) -> Option<Self> {
        // Links are resolved: a link in a shared `bin` directory has no `psql` of its version beside it.
        let bin = fs::canonicalize(bin.join("postgres")).ok()?.parent()?.to_owned();
        let complete = ["initdb", "psql"].iter().all(|program| bin.join(program).is_file());
        if !complete {
            return None;
        }
        let banner = banner(&bin.join("postgres"))?;
        (read_major_version(&banner)? >= OLDEST).then_some(Self { bin, banner })
    }

    pub(crate) fn bin(&self) -> &Path {
        &self.bin
    }

    /// The version as the server states it, such as `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`.
    pub(crate) fn banner(&self) -> &str {
        &self.banner
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }
}

fn candidates() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = env::var_os("PATH")
        .map(|path| env::split_paths(&path).filter(|directory| directory.is_absolute()).collect())
        .unwrap_or_default();
    for prefix in VERSIONED {
        found.extend(newest_first(beginning_with(prefix)).iter().map(|version| version.join("bin")));
    }
    found.extend(PLAIN.map(PathBuf::from));
    found.extend(bindir_of_pg_config());
    found
}

/// The paths that begin with `prefix`: a directory, and perhaps the first letters of a name in it.
fn beginning_with(prefix: &str) -> Vec<PathBuf> {
    let Some((directory, name)) = prefix.rsplit_once('/') else { return Vec::new() };
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(name.as_bytes()))
        .map(|entry| entry.path())
        .collect()
}

fn newest_first(mut versions: Vec<PathBuf>) -> Vec<PathBuf> {
    versions.sort_by_key(|path| std::cmp::Reverse(trailing_number(path)));
    versions
}

fn trailing_number(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    name.trim_start_matches(|character: char| !character.is_ascii_digit()).split('.').next()?.parse().ok()
}

fn bindir_of_pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

fn banner(postgres: &Path) -> Option<String> {
    let output = Command::new(postgres).arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()
}

/// From `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`: 15.
fn read_major_version(banner: &str) -> Option<u32> {
    let version = banner.split_once("(PostgreSQL)")?.1.trim_start();
    version.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_banner_of_releases_and_betas() {
        assert_eq!(read_major_version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"), Some(15));
        assert_eq!(read_major_version("postgres (PostgreSQL) 19beta2\n"), Some(19));
        assert_eq!(read_major_version("postgres 17\n"), None);
    }

    #[test]
    fn the_newest_version_is_tried_first_by_number_and_not_by_spelling() {
        let versions = ["/x/9.6", "/x/18", "/x/postgresql@16", "/x/common"].map(PathBuf::from).to_vec();
        let expected = ["/x/18", "/x/postgresql@16", "/x/9.6", "/x/common"].map(PathBuf::from).to_vec();
        assert_eq!(newest_first(versions), expected);
    }

    #[test]
    fn a_directory_without_every_program_is_no_installation() {
        assert_eq!(Installation::in_directory(Path::new("/etc")), None);
    }
}
