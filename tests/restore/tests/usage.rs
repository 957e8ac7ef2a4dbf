//! A mistake in the arguments is told before anything is started.

use std::process::Command;

#[test]
fn an_unknown_argument_is_refused_with_the_usage() {
    let output = Command::new(env!("CARGO_BIN_EXE_restore-drill")).arg("--what").output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("usage: restore-drill [--forget-numbers]"), "{said}");
}
