//! A server with wrong settings exits at once and names all mistakes in one line.

use std::{fs, path::Path, process::Command};

const MISTAKEN: &str = r#"
[http]
listen = "127.0.0.1"
workrs = 4

[web]
time_zone = "Africa/Nowhere"

[store]
pool_size = "many"

[sealing.current]
id = 1
key = "hunter2"

[identity]
environment = "STAGNG"
refresh_key = "hunter2"

[vending]
gate_ms = 600000

[providers.bpc.xmlvend]
endpoint = "http://127.0.0.1:1/xmlvend"
currency = "pula"
client = { ean = "2670000000015" }
terminal = { id = "till" }

[providers.swsc.xmlvend]
endpoint = "http://127.0.0.1:1/xmlvend"
currency = "BWP"
client = { ean = "2670000000022" }

[telemetry]
filter = "store=loud"
"#;

const GOOD: &str = r#"
[web]
public_url = "https://vendgate.example.org"
time_zone = "Africa/Gaborone"

[store]
database_url = "postgres://api:password@127.0.0.1:1/vendgate"

[sealing.current]
id = 1
key = "0000000000000000000000000000000000000000000000000000000000000000"

[identity]
environment = "STAGING"
refresh_key = "0000000000000000000000000000000000000000000000000000000000000000"
"#;

/// What a program prints on standard error, which must be one line.
fn complaint(arguments: &[&Path]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_api-server"));
    let output = command.args(arguments).env_clear().output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

fn written(name: &str, settings: &str) -> std::path::PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, settings).unwrap();
    file
}

#[test]
fn a_server_names_the_mistakes_of_all_sections_at_once() {
    let file = written("mistaken.toml", MISTAKEN);
    let said = complaint(&[&file]);
    let begins =
        format!("api-server: 9 settings must be corrected in {}, or in the environment ", file.display());
    assert!(said.starts_with(&begins), "{said}");
    for mistake in [
        "`http.workrs` is unknown: what can be set here is listen, workers, ",
        "`identity.environment` is wrong: one of STAGING, PRODUCTION is expected",
        "`providers.swsc.xmlvend.terminal` is missing",
        "`sealing` is wrong: ",
        "`store.database_url` is missing",
        "`store.pool_size` is wrong: an integer is expected",
        "`telemetry` is wrong: telemetry.filter is not a list of levels",
        "`vending` is wrong: gate must be shorter than intake",
        "`web` is wrong: \"Africa/Nowhere\" is not the IANA name of a time zone",
    ] {
        assert!(said.contains(mistake), "{mistake} is not in {said}");
    }
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn what_another_mistake_hid_is_named_once_that_is_mended() {
    let fixed =
        MISTAKEN.replace("workrs = 4\n", "").replace("\"many\"", "4\ndatabase_url = \"postgres://a:b@c/d\"");
    let fixed = fixed.replace("STAGNG", "STAGING").replace("loud", "info").replace("Nowhere", "Gaborone");
    let fixed = fixed.replace("000022\" }", "000022\" }\nterminal = { id = \"till\" }");
    let said = complaint(&[&written("half-fixed.toml", &fixed)]);
    for mistake in [
        "`http` is wrong: listen is not an address and port such as 127.0.0.1:8080",
        "`identity` is wrong: refresh_key is not 64 hexadecimal digits",
        "`sealing` is wrong: ",
        "`vending` is wrong: ",
    ] {
        assert!(said.contains(mistake), "{mistake} is not in {said}");
    }
    let said = complaint(&[&written("late.toml", &fixed.replace("gate_ms = 600000", ""))]);
    assert!(
        said.contains("`providers.bpc` is wrong: the settings of provider BPC cannot be used: "),
        "{said}"
    );
}

#[test]
fn the_errand_of_migrating_looks_at_its_own_settings_alone() {
    let file = written(
        "migrate.toml",
        "[migrate]\ndatabase_url = \"hunter2\"\n[telemetry]\nfilter = 5.5\nfile = 1\n",
    );
    let said = complaint(&[Path::new("migrate"), &file]);
    assert!(said.contains("`migrate` is wrong: database_url is no address such as postgres://"), "{said}");
    assert!(said.contains("`telemetry.file` is unknown: "), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn settings_are_checked_without_starting() {
    let file = written("checked.toml", MISTAKEN);
    let checked = complaint(&[Path::new("--check-settings"), &file]);
    assert_eq!(checked, complaint(&[&file]));
    let good = written("good.toml", GOOD);
    let checked = Command::new(env!("CARGO_BIN_EXE_api-server"))
        .arg("--check-settings")
        .arg(&good)
        .env_clear()
        .output();
    let checked = checked.unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    assert_eq!(String::from_utf8(checked.stdout).unwrap(), "the settings are valid\n");
}

#[test]
fn every_number_that_must_not_be_zero_is_named_with_its_bound() {
    let zeros = "engine_threads = 0\n[http]\nworkers = 0\nhead_within_ms = 0\n\
                 [vending]\ngate_ms = 0\nprovider_timeout_ms = 0\n[traces]\none_in = 0\n";
    let good = GOOD.replace("[store]\n", "[store]\npool_size = 0\nlock_timeout_ms = 0\n");
    let good = good.replace("[web]\n", "[web]\nlimits.remembered_max = 0\n");
    let said = complaint(&[&written("zeros.toml", &format!("{zeros}{good}"))]);
    assert!(said.starts_with("api-server: 9 settings must be corrected"), "{said}");
    for key in [
        "engine_threads",
        "http.workers",
        "http.head_within_ms",
        "web.limits.remembered_max",
        "store.pool_size",
        "store.lock_timeout_ms",
        "vending.gate_ms",
        "traces.one_in",
    ] {
        let mistake = format!("`{key}` is wrong: it must be at least 1");
        assert!(said.contains(&mistake), "{mistake} is not in {said}");
    }
    assert!(said.contains("`vending` is wrong: intake must be shorter than provider_timeout"), "{said}");
}

#[test]
fn the_time_of_a_vend_is_set_for_all_providers_and_not_for_one() {
    let provider = "[providers.bpc.xmlvend]\nendpoint = \"http://127.0.0.1:1/xmlvend\"\ncurrency = \"BWP\"\n\
                    client = { id = \"a\" }\nterminal = { id = \"till\" }\nvend_timeout_ms = 90000\n";
    let said = complaint(&[&written("vend-timeout.toml", &format!("{GOOD}\n{provider}"))]);
    assert!(said.contains("`providers.bpc.xmlvend.vend_timeout_ms` is unknown: "), "{said}");
}

#[test]
fn spans_are_sent_to_an_address_of_http_and_to_no_other() {
    for endpoint in ["ftp://127.0.0.1/v1/traces", "127.0.0.1:4318"] {
        let said =
            complaint(&[&written("traces.toml", &format!("{GOOD}\n[traces]\nendpoint = {endpoint:?}\n"))]);
        assert!(said.contains("`traces"), "{said}");
    }
    let receiver = "[traces]\nendpoint = \"https://collector.example/v1/traces\"\none_in = 100\n";
    let file = written("traced.toml", &format!("{GOOD}\n{receiver}"));
    let mut server = Command::new(env!("CARGO_BIN_EXE_api-server"));
    let checked = server.arg("--check-settings").arg(&file).env_clear().output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn a_file_may_also_hold_the_settings_of_the_other_programs() {
    let others = "[worker]\n[rounds]\n[notify]\n[migrate]\n[operator]\nactor = \"naledi\"\n";
    let shared = written("shared.toml", &format!("{GOOD}\n{others}"));
    let mut server = Command::new(env!("CARGO_BIN_EXE_api-server"));
    let checked = server.arg("--check-settings").arg(&shared).env_clear().output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}
