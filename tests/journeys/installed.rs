//! Programs that integrators use and a minimal machine may lack. As root on a Debian system they are installed like
//! Postgres. Elsewhere the test fails with a line that says what to install.

use std::{
    collections::BTreeSet,
    process::{Command, Stdio},
    sync::Mutex,
};

use local_postgres::apt;

/// Makes sure that a program exists. Its Debian package must have the same name.
pub fn needs(program: &str) {
    static INSTALLED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    // The lock is held during the installation, so that two tests do not install at once.
    let mut installed = INSTALLED.lock().unwrap();
    if installed.insert(program.to_owned()) && !runs(program) {
        install(program);
    }
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn install(program: &str) {
    assert!(apt::can_install(), "there is no {program}: install it");
    apt::install(program).unwrap();
}
