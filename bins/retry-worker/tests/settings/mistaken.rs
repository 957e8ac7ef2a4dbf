//! A worker with wrong settings exits at once and names all mistakes in one line.

use std::{fs, path::Path, process::Command};

const MISTAKEN: &str = r#"
[worker]
slots_per_provider = 0

[rounds]
count_every_ms = "often"

[notify]
poll_ms = 0

[notify.email]
host = "mail.example"
from = "hunter2"

[store]
database_url = "postgres://worker:password@127.0.0.1:1/vendgate"

[sealing.current]
id = 1
key = "0000000000000000000000000000000000000000000000000000000000000000"
kye = "hunter2"
"#;

const VALID: &str = r#"
[store]
database_url = "postgres://worker:password@127.0.0.1:1/vendgate"

[sealing.current]
id = 1
key = "0000000000000000000000000000000000000000000000000000000000000000"
"#;

#[test]
fn a_worker_names_the_mistakes_of_all_sections_at_once() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mistaken.toml");
    fs::write(&file, MISTAKEN).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_retry-worker")).arg(&file).env_clear().output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("retry-worker: 5 settings must be corrected in "), "{said}");
    for mistake in [
        "`notify.email.from` is wrong: ",
        "`rounds.count_every_ms` is wrong: an integer is expected",
        "`sealing.current.kye` is unknown: what can be set here is id, key",
        "`notify.poll_ms` is wrong: it must be at least 1",
        "`worker.slots_per_provider` is wrong: it must be at least 1",
    ] {
        assert!(said.contains(mistake), "{mistake} is not in {said}");
    }
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn settings_are_checked_without_starting_and_without_a_database() {
    let check = |name: &str, settings: &str| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&file, settings).unwrap();
        let mut worker = Command::new(env!("CARGO_BIN_EXE_retry-worker"));
        worker.arg("--check-settings").arg(&file).env_clear().output().unwrap()
    };
    let valid = check("valid.toml", VALID);
    assert!(valid.status.success(), "{}", String::from_utf8_lossy(&valid.stderr));
    assert_eq!(String::from_utf8(valid.stdout).unwrap(), "the settings are valid\n");
    let mistaken = check("checked.toml", MISTAKEN);
    assert!(!mistaken.status.success());
    let said = String::from_utf8(mistaken.stderr).unwrap();
    assert!(said.contains("5 settings must be corrected in "), "{said}");
}
