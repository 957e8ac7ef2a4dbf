//! Installing what is missing where that needs no question: as root, on a Debian-family system.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{LocalPostgresError, account};

/// Read by Debian's packages before they make and start a cluster of their own.
const CREATECLUSTER_D: &str = "/etc/postgresql-common/createcluster.d";

const APT_GET: &str = "/usr/bin/apt-get";

/// Whether apt is here and this process may use it.
pub fn can_install() -> bool {
    Path::new(APT_GET).is_file() && account::is_root()
}

/// Installs Debian's `postgresql`, and keeps it from starting a server of its own.
pub(crate) fn install_postgres() -> Result<(), LocalPostgresError> {
    announce("no PostgreSQL was found: installing it (apt-get install postgresql)");
    let _no_cluster = NoMainCluster::declare()?;
    fetch("postgresql")
}

/// Installs one of Debian's packages.
///
/// # Errors
/// What apt-get said.
pub fn install(package: &str) -> Result<(), LocalPostgresError> {
    announce(&format!("no {package} was found: installing it (apt-get install {package})"));
    fetch(package)
}

fn fetch(package: &str) -> Result<(), LocalPostgresError> {
    apt_get(&["update"])?;
    apt_get(&["install", "--yes", "--no-install-recommends", package])
}

/// While it lives, Debian's packages make no cluster; afterwards the machine's settings are as before.
#[derive(Debug)]
struct NoMainCluster(PathBuf);

impl NoMainCluster {
    fn declare() -> Result<Self, LocalPostgresError> {
        let path = Path::new(CREATECLUSTER_D).join("local-postgres.conf");
        let written = fs::create_dir_all(CREATECLUSTER_D)
            .and_then(|()| fs::write(&path, "create_main_cluster = false\n"));
        match written {
            Ok(()) => Ok(Self(path)),
            Err(source) => Err(LocalPostgresError::Directory { path, source }),
        }
    }
}

impl Drop for NoMainCluster {
    fn drop(&mut self) {
        // A file left behind keeps Debian from making a cluster that nobody here asked for: no harm.
        let _: io::Result<()> = fs::remove_file(&self.0);
    }
}

fn apt_get(arguments: &[&str]) -> Result<(), LocalPostgresError> {
    let program = format!("apt-get {}", arguments.join(" "));
    let output = Command::new(APT_GET)
        .args(["--quiet", "--option", "DPkg::Lock::Timeout=300"])
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(LocalPostgresError::ProgramFailed { program, said })
        }
        Err(source) => Err(LocalPostgresError::CannotRun { program, source }),
    }
}

#[expect(clippy::print_stderr, reason = "a person is about to wait, and their machine is about to change")]
fn announce(what: &str) {
    eprintln!("local-postgres: {what}");
}
