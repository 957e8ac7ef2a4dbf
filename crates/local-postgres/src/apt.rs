//! Installs missing packages where that needs no question: as root, on a Debian-family system. `VENDGATE_INSTALL=never`
//! forbids it.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{LocalPostgresError, account};

/// Debian's packages read this before they create and start their own cluster.
const CREATECLUSTER_D: &str = "/etc/postgresql-common/createcluster.d";

const APT_GET: &str = "/usr/bin/apt-get";

/// The variable that forbids to install anything, if it is `never`.
const VARIABLE: &str = "VENDGATE_INSTALL";

/// Whether the machine has apt and this process may use it.
pub fn can_install() -> bool {
    Path::new(APT_GET).is_file() && account::is_root()
}

/// Installs Debian's `postgresql`, and prevents it from starting its own server.
pub(crate) fn install_postgres() -> Result<(), LocalPostgresError> {
    announce("PostgreSQL", "postgresql")?;
    let _no_cluster = NoMainCluster::declare()?;
    fetch("postgresql")
}

/// Installs one of Debian's packages.
///
/// # Errors
/// The error output of apt-get, or that `VENDGATE_INSTALL=never` forbids it.
pub fn install(package: &str) -> Result<(), LocalPostgresError> {
    announce(package, package)?;
    fetch(package)
}

/// Installs one of Debian's packages, and prevents it from starting its service.
///
/// # Errors
/// As of [`install`].
pub fn install_without_start(package: &str) -> Result<(), LocalPostgresError> {
    announce(package, package)?;
    let _no_services = NoServices::declare()?;
    fetch(package)
}

fn fetch(package: &str) -> Result<(), LocalPostgresError> {
    apt_get(&["update"])?;
    apt_get(&["install", "--yes", "--no-install-recommends", package])
}

/// While this value exists, Debian's packages create no cluster. Dropping it restores the machine's settings.
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
        // A file that stays only keeps Debian from creating a cluster. That does no harm.
        let _: io::Result<()> = fs::remove_file(&self.0);
    }
}

/// Debian's packages start no service while this program exists and refuses (invoke-rc.d(8)).
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// While this value exists, Debian's packages start no service. A policy that the machine has already stays as it is.
#[derive(Debug)]
struct NoServices {
    is_ours: bool,
}

impl NoServices {
    fn declare() -> Result<Self, LocalPostgresError> {
        if Path::new(POLICY).exists() {
            return Ok(Self { is_ours: false });
        }
        let written = fs::write(POLICY, "#!/bin/sh\nexit 101\n")
            .and_then(|()| fs::set_permissions(POLICY, Permissions::from_mode(0o755)));
        match written {
            Ok(()) => Ok(Self { is_ours: true }),
            Err(source) => Err(LocalPostgresError::Directory { path: POLICY.into(), source }),
        }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.is_ours {
            // If it stays, services must be started by hand after an installation. That does no harm.
            let _: io::Result<()> = fs::remove_file(POLICY);
        }
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

/// Says what will be installed and why, before anything is done; fails if it is forbidden.
#[expect(clippy::print_stderr, reason = "the user is about to wait, and the machine is about to change")]
fn announce(missing: &str, package: &str) -> Result<(), LocalPostgresError> {
    if is_forbidden() {
        return Err(LocalPostgresError::InstallForbidden { package: package.to_owned() });
    }
    eprintln!(
        "local-postgres: no {missing} was found: installing it (apt-get install {package}); {VARIABLE}=never forbids this"
    );
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "no setting of the service: it says what a test run may do to the machine"
)]
fn is_forbidden() -> bool {
    std::env::var(VARIABLE).is_ok_and(|value| value == "never")
}
