//! A mistake in the arguments is told before anything is installed or built.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

use std::process::Command;

fn refusal(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_failover")).args(arguments).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_unknown_fault_is_refused_with_the_names_of_all() {
    let said = refusal(&["--only", "Earthquake"]);
    assert!(said.contains("there is no fault Earthquake: choose from MachineLost, "), "{said}");
}

#[test]
fn an_unknown_argument_is_refused_with_the_usage() {
    for arguments in [&["--what"][..], &["--rounds"], &["--rounds", "many"]] {
        let said = refusal(arguments);
        assert!(said.contains("usage: failover [--rounds N]"), "{said}");
    }
}
