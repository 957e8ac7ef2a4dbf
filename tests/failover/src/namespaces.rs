//! Runs the rehearsal in namespaces of its own. When they end, everything in them ends: links, disks and processes.

use std::{env, os::unix::process::CommandExt, process::Command};

use local_postgres::apt;

use crate::Failure;

/// The first argument of this program when it runs in its namespaces.
pub const INSIDE: &str = "inside-its-namespaces";

/// Files of Debian, and the packages that have them. Patroni runs without the two libraries, but not with etcd and Postgres.
const NEEDED: [(&str, &str); 7] = [
    ("/usr/bin/patroni", "patroni"),
    ("/usr/lib/python3/dist-packages/etcd/client.py", "python3-etcd"),
    ("/usr/lib/python3/dist-packages/psycopg2/__init__.py", "python3-psycopg2"),
    ("/usr/bin/etcd", "etcd-server"),
    ("/usr/sbin/haproxy", "haproxy"),
    ("/usr/bin/nsenter", "util-linux"),
    ("/sbin/ip", "iproute2"),
];

/// A shell is the first process there, because the first process must reap orphans.
const FIRST_PROCESS: &str = "\"$@\" & wait $!";

/// Installs what is missing, and replaces this process by the same one in its own namespaces.
///
/// # Errors
/// Always, because it only returns when it fails.
pub fn enter() -> Result<(), Failure> {
    let missing = NEEDED.iter().filter(|(program, _)| !std::path::Path::new(program).exists());
    for (program, package) in missing {
        if !apt::can_install() {
            return Err(format!(
                "there is no {program}: run this as root on a Debian system, or install {package}"
            )
            .into());
        }
        apt::install_without_start(package)?;
    }
    let unshared = Command::new("unshare")
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"])
        .args(["sh", "-c", FIRST_PROCESS, "sh"])
        .arg(env::current_exe()?)
        .arg(INSIDE)
        .args(env::args_os().skip(1))
        .exec();
    Err(format!("no namespaces can be made, which needs root: {unshared}").into())
}
