//! Runs docs/operations/INSTALL.md as it is written. It starts with an empty Postgres and reaches the first purchase
//! in production with the document's own commands only.

mod machine;

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use machine::Machine;
use sandbox::Credentials;
use serde_json::{Value, json};

use crate::{caller::Caller, env::eventually, request_body::RequestBody, simulator::SimulatorClient};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_install_document_alone_is_enough_to_sell_in_production() {
    let machine = tokio::task::spawn_blocking(Machine::unpacked).await.unwrap();
    let printed = machine.types("install");
    let bought: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&bought["status"], &bought["total"]),
        (&json!("SUCCESSFUL"), &json!("BWP 101.50")),
        "{bought}"
    );

    let simulator = SimulatorClient::at(&machine.simulator.url());
    let token = bought["product"]["token"].as_str().unwrap();
    assert_eq!(simulator.enters(&machine.meter, token).await, Ok("credit".to_owned()));
    assert_eq!(simulator.vended(&machine.meter).await, 1);
    assert_eq!(machine.operator("allow-list list -o KGALE"), json!([]), "the allow-list was not used");
    simulator.tells("%2B26771234567", token).await;

    secrets_are_roots_own(&machine.root.join("etc"));
    staging_is_refused(&machine).await;
    another_key_seals(&machine, token).await;
}

/// Only root may read the files in the directory.
fn secrets_are_roots_own(settings: &Path) {
    let files: Vec<_> = fs::read_dir(settings).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 5);
    for file in files {
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.path().display());
    }
}

/// Credentials of an organisation in staging are refused here.
async fn staging_is_refused(machine: &Machine) {
    let does = |words: &str| machine.operator(&format!("{words} --reason test"));
    for (code, environment, expected) in [("TRIAL", "staging", 401), ("REAL", "production", 200)] {
        does(&format!("organisation create {code} --name {code} --environment {environment}"));
        let client = does(&format!("client create -o {code} --name tills"));
        let user = does(&format!(
            "user create till -o {code} --full-name Till --role integrator --generate-password"
        ));
        let (status, answer) = Caller::at(&machine.api).logs_in(&credentials(&client, &user, code)).await;
        assert_eq!(status, expected, "{answer}");
        if status == 401 {
            assert_eq!(answer["error"]["code"], "invalid_credentials");
        }
    }
}

/// After a key change as in the document, old tokens can still be read, and new ones are sealed with the new key.
async fn another_key_seals(machine: &Machine, token: &str) {
    machine.types("rotate");
    let mut caller = Caller::at(&machine.api);
    eventually("the server is back", async || caller.reaches_it().await).await;
    let does = |words: &str| machine.operator(&format!("{words} --reason test"));
    let client = does("client create -o KGALE --name another");
    let user = does("user set-password till -o KGALE --generate-password");
    assert_eq!(caller.logs_in(&credentials(&client, &user, "KGALE")).await.0, 200);
    let question = RequestBody::retry(&machine.meter, "first-1").body();
    let (status, found) = caller.posts("/purchases/retry", question).await.unwrap();
    assert_eq!((status, found["product"]["token"].as_str()), (200, Some(token)), "{found}");

    let account = machine.operator("account list -o KGALE")[0]["id"].as_i64().unwrap();
    let order = RequestBody::new(account, &machine.meter).reference("second-1");
    let (status, bought) = caller.posts("/purchases/confirm", order.body()).await.unwrap();
    assert_eq!((status, &bought["status"]), (200, &json!("SUCCESSFUL")), "{bought}");
    let keys = machine.asks_the_database("SELECT DISTINCT token_key_id FROM purchases ORDER BY 1");
    assert_eq!(keys, "1\n2");
}

fn credentials(client: &Value, user: &Value, organisation: &str) -> Credentials {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Credentials {
        client_id: text(&client["client_id"]),
        client_secret: text(&client["client_secret"]),
        org_code: organisation.to_owned(),
        identifier: "till".to_owned(),
        secret_pass: text(&user["password"]),
    }
}

/// INSTALL.md names the same limit. The siege of docs/operations/LIMITS.md has shown that it is several times the
/// memory in use.
#[test]
fn every_unit_bounds_the_memory_of_its_process() {
    let operations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations");
    let document = fs::read_to_string(operations.join("INSTALL.md")).unwrap();
    assert!(document.contains("`MemoryMax` bounds each: 512 MB"));
    let units = fs::read_dir(operations.join("systemd")).unwrap().map(|unit| unit.unwrap().path());
    let services: Vec<_> =
        units.filter(|unit| unit.extension().is_some_and(|kind| kind == "service")).collect();
    assert_eq!(services.len(), 3);
    for service in services {
        let text = fs::read_to_string(&service).unwrap();
        let (_unit, rest) = text.split_once("[Service]\n").unwrap();
        let (settings, _install) = rest.split_once("[Install]\n").unwrap();
        let bounds: Vec<_> = settings.lines().filter(|line| line.starts_with("MemoryMax=")).collect();
        assert_eq!(bounds, ["MemoryMax=512M"], "{}", service.display());
    }
}
