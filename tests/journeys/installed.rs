//! The programs that integrators use and a bare machine may lack: as root on a Debian system they are installed, as
//! Postgres is; elsewhere one line says what to install.

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Stdio},
    sync::Mutex,
};

const APT_GET: &str = "/usr/bin/apt-get";

/// Makes sure that there is a program whose Debian package bears its name.
pub fn needs(program: &str) {
    static INSTALLED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    // Held while it installs, so that two tests do not install at once.
    let mut installed = INSTALLED.lock().unwrap();
    if installed.insert(program.to_owned()) && !runs(program) {
        install(program);
    }
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn install(program: &str) {
    assert!(Path::new(APT_GET).is_file(), "there is no {program}: install it");
    for arguments in [&["update"][..], &["install", "--yes", "--no-install-recommends", program]] {
        let apt_get = Command::new(APT_GET)
            .args(["--quiet", "--option", "DPkg::Lock::Timeout=300"])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&apt_get.stderr);
        assert!(apt_get.status.success(), "there is no {program}, and apt-get cannot install it: {said}");
    }
}
