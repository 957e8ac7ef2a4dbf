//! The settings files of the packages and manifests are refused as they are shipped, and valid once they are completed.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use test_kit::packaging;

#[test]
fn every_packaged_settings_file_is_valid_once_it_is_completed() {
    for (name, settings) in packaging::completed_settings() {
        let output = check("completed", name, &settings);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_settings_file_without_keys_starts_no_worker() {
    for (name, settings) in packaging::shipped_settings() {
        let output = check("shipped", name, &settings);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("`sealing"), "{name}: {said}");
    }
}

fn check(state: &str, name: &str, settings: &str) -> Output {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{state}-{}", name.replace('/', "-")));
    fs::write(&file, settings).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_retry-worker"));
    program.arg("--check-settings").arg(&file).env_clear();
    let database = "postgres://login:password@127.0.0.1:1/vendgate";
    program.env("VENDGATE__STORE__DATABASE_URL", database).output().unwrap()
}
