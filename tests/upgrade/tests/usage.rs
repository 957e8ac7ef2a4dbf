//! A mistake in the arguments is told before anything is built.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

use std::process::Command;

fn refusal(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_upgrade")).args(arguments).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_unknown_argument_is_refused_with_the_usage() {
    for arguments in [&["--what"][..], &["--from"], &["--longest-pause", "soon"]] {
        let said = refusal(arguments);
        assert!(
            said.contains("usage: upgrade [--from COMMIT] [--longest-pause SECONDS] [--break | --build]"),
            "{said}"
        );
    }
}

#[test]
fn a_release_that_is_not_there_is_named() {
    let said = refusal(&["--from", "v0.0.0-never-released"]);
    assert!(said.contains("v0.0.0-never-released"), "{said}");
}
