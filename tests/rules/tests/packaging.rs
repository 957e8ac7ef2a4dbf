//! The packages, the image and the manifests fit the programs. `scripts/packages` builds and runs them; these rules need
//! neither root nor containers.
#![expect(clippy::indexing_slicing, clippy::panic, reason = "the helpers of a test may fail it")]

use std::fs;

use serde_json::Value;
use test_kit::packaging::uncommented;

use crate::source::{assert_none, files, files_named, root};

const UNITS: &str = "docs/operations/systemd";
const SERVER_UNIT: &str = "docs/operations/systemd/vendgate-api-server@.service";
const WORKER_UNIT: &str = "docs/operations/systemd/vendgate-retry-worker@.service";
const CONSOLE_UNIT: &str = "docs/operations/systemd/vendgate-console.service";
const MANIFESTS: &str = "packaging/kubernetes";
const COMPOSE: &str = "packaging/playground/compose.yaml";
const IMAGE: &str = "packaging/image/Containerfile";
const BUILD: &str = "scripts/packages.d/build";

#[test]
fn the_units_of_the_package_are_those_of_the_install_document() {
    let is_unit = |path: &str| path.ends_with(".service") || path.ends_with(".target");
    let copies = files().into_iter().map(|file| file.path);
    let copies: Vec<String> = copies.filter(|path| is_unit(path) && !path.starts_with(UNITS)).collect();
    assert_none(&copies, "Remove these copies, the package takes the units in docs/operations/systemd:");
    assert!(read("docs/operations/INSTALL.md").contains(&format!("install -m 0644 {UNITS}/*")));
    let build = read(BUILD);
    assert!(build.contains(&format!("for unit in {UNITS}/*; do")), "{BUILD} packages other units");
    let programs = "build_package vendgate api-server retry-worker vendctl console\n";
    assert!(build.contains(programs), "{BUILD} packages other programs than INSTALL.md installs");
    for (unit, program, settings) in [
        (SERVER_UNIT, "api-server", "vendgate"),
        (WORKER_UNIT, "retry-worker", "vendgate"),
        (CONSOLE_UNIT, "console", "console"),
    ] {
        let start = format!("\nExecStart=/usr/local/bin/{program} %d/{settings}.toml\n");
        assert!(read(unit).contains(&start), "{unit} does not start {program}");
    }
}

#[test]
fn every_supervisor_waits_longer_than_a_stop_can_take() {
    let manifests = manifests();
    let grace = |name: &str| {
        let pod = pod(manifest(&manifests, "Deployment", name));
        pod["terminationGracePeriodSeconds"].as_u64().expect("a grace period in seconds")
    };
    let notice_of_the_cluster = environment(
        manifest(&manifests, "Deployment", "vendgate-api-server"),
        "VENDGATE__HTTP__STOP_NOTICE_MS",
    );
    let notice = notice_of_the_cluster.parse::<u64>().expect("milliseconds") / 1_000;
    let compose = compose();
    let composed = |service: &str| {
        let period = compose["services"][service]["stop_grace_period"].as_str();
        first_number(period.expect("a grace period"))
    };
    let mut broken = Vec::new();
    for (place, waits, needs) in [
        (SERVER_UNIT, stop_timeout(SERVER_UNIT), server_stop()),
        (WORKER_UNIT, stop_timeout(WORKER_UNIT), worker_stop()),
        ("the Deployment of the server", grace("vendgate-api-server"), server_stop() + notice),
        ("the Deployment of the worker", grace("vendgate-retry-worker"), worker_stop()),
        ("the server in compose.yaml", composed("api-server"), server_stop()),
        ("the worker in compose.yaml", composed("retry-worker"), worker_stop()),
    ] {
        if waits <= needs {
            broken.push(format!("{place}: waits {waits} s, and a stop may take {needs} s"));
        }
    }
    assert_none(&broken, "A vend would be cut off. Let these wait longer:");
}

#[test]
fn a_drain_is_longer_than_one_vend() {
    let vend = number_after("docs/operations/TIMES.md", "provider_timeout_ms = ") / 1_000;
    for file in ["bins/api-server/src/settings.rs", "crates/vending/src/settings.rs"] {
        assert!(drain_of(file) > vend, "{file}: a drain ends before a vend of {vend} s");
    }
}

/// The requests get `http.drain_s`, then the engine gets as long again, and its runtime a second.
fn server_stop() -> u64 {
    2 * drain_of("bins/api-server/src/settings.rs") + 1
}

/// A claim ends within the deadline of an operation, the engine gets `worker.drain_s`, and its runtime a second.
fn worker_stop() -> u64 {
    let claim =
        number_after("crates/database/src/settings.rs", "const fn operation_deadline_ms() -> u64 {") / 1_000;
    claim + drain_of("crates/vending/src/settings.rs") + 1
}

fn drain_of(file: &str) -> u64 {
    let text = read(file);
    let mut defaults = text.split("impl Default for").skip(1);
    let drain = defaults.find_map(|part| part.split_once("drain_s: "));
    first_number(drain.unwrap_or_else(|| panic!("{file} has no default of drain_s")).1)
}

#[test]
fn every_pod_runs_without_rights_and_cannot_write_its_root() {
    let user = image_user();
    let mut broken = Vec::new();
    for manifest in manifests().iter().filter(|manifest| manifest["spec"]["template"].is_object()) {
        let (name, pod) = (&manifest["metadata"]["name"], pod(manifest));
        let container = &pod["containers"][0];
        for (path, expected) in [
            ("/securityContext/runAsNonRoot", Value::Bool(true)),
            ("/securityContext/runAsUser", user.into()),
            ("/securityContext/seccompProfile/type", "RuntimeDefault".into()),
            ("/automountServiceAccountToken", Value::Bool(false)),
            ("/containers/0/securityContext/allowPrivilegeEscalation", Value::Bool(false)),
            ("/containers/0/securityContext/readOnlyRootFilesystem", Value::Bool(true)),
            ("/containers/0/securityContext/capabilities/drop/0", "ALL".into()),
        ] {
            let found = pod.pointer(path).unwrap_or(&Value::Null);
            if *found != expected {
                broken.push(format!("{name}: {path} is {found}, and must be {expected}"));
            }
        }
        let resources = &container["resources"];
        if !resources["limits"]["memory"].is_string() || !resources["requests"]["cpu"].is_string() {
            broken.push(format!("{name}: no limit of memory, or no request of CPU"));
        }
    }
    assert_none(&broken, "Correct these pods:");
}

#[test]
fn every_probe_asks_a_path_and_a_port_that_the_program_serves() {
    let served = read("crates/boot/src/observe/pages.rs");
    for name in ["vendgate-api-server", "vendgate-retry-worker"] {
        let manifests = manifests();
        let manifest = manifest(&manifests, "Deployment", name);
        let container = &pod(manifest)["containers"][0];
        let listens = environment(manifest, "VENDGATE__OBSERVE__LISTEN");
        for (probe, path) in
            [("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")]
        {
            let asked = &container[probe]["httpGet"];
            assert_eq!(
                (&asked["path"], &asked["port"]),
                (&path.into(), &"observe".into()),
                "{name}: {probe}"
            );
            assert!(served.contains(&format!(".route(\"{path}\"")), "no program serves {path}");
        }
        let ports = container["ports"].as_array().expect("ports");
        let observe = ports.iter().find(|port| port["name"] == "observe").expect("a port for probes");
        assert_eq!(listens, format!("0.0.0.0:{}", observe["containerPort"]), "{name}");
    }
}

#[test]
fn the_manifests_name_programs_secrets_and_pods_that_exist() {
    let manifests = manifests();
    let named = |kind: &str, name: &Value| {
        manifests.iter().any(|manifest| manifest["kind"] == kind && manifest["metadata"]["name"] == *name)
    };
    let labels: Vec<&Value> =
        manifests.iter().map(|one| &one["spec"]["template"]["metadata"]["labels"]).collect();
    let mut broken = Vec::new();
    for manifest in &manifests {
        let name = manifest["metadata"]["name"].to_string();
        let selectors = [
            &manifest["spec"]["podSelector"]["matchLabels"],
            &manifest["spec"]["selector"]["matchLabels"],
            if manifest["kind"] == "Service" { &manifest["spec"]["selector"] } else { &Value::Null },
        ];
        for selector in selectors.into_iter().filter(|selector| selector.is_object()) {
            if !labels.contains(&selector) {
                broken.push(format!("{name}: selects no pod"));
            }
        }
        if !manifest["spec"]["template"].is_object() {
            continue;
        }
        let container = &pod(manifest)["containers"][0];
        let program = container["command"][0].as_str().unwrap_or_default();
        if !["api-server", "retry-worker", "console"].contains(&program) {
            broken.push(format!("{name}: the image has no program {program}"));
        }
        let variables = container["env"].as_array().into_iter().flatten();
        let of_variables = variables.map(|one| &one["valueFrom"]["secretKeyRef"]["name"]);
        let of_volumes = pod(manifest)["volumes"].as_array().into_iter().flatten();
        let secrets = of_variables.chain(of_volumes.map(|volume| &volume["secret"]["secretName"]));
        let unknown = secrets.filter(|secret| secret.is_string() && !named("Secret", secret));
        broken.extend(unknown.map(|secret| format!("{name}: there is no example of the Secret {secret}")));
    }
    assert_none(&broken, "Correct these manifests:");
}

#[test]
fn no_deployment_is_without_a_budget_and_a_network_policy() {
    let manifests = manifests();
    for name in ["vendgate-api-server", "vendgate-retry-worker"] {
        for kind in ["Deployment", "PodDisruptionBudget", "NetworkPolicy"] {
            assert_eq!(manifest(&manifests, kind, name)["kind"], kind);
        }
    }
    // There is one console, so a budget would keep its node from being drained.
    for name in ["vendgate-console", "vendgate-migrate"] {
        assert_eq!(manifest(&manifests, "NetworkPolicy", name)["kind"], "NetworkPolicy");
    }
}

#[test]
fn the_image_runs_as_a_user_that_is_a_number_and_not_root() {
    let user = image_user();
    assert!(user >= 1_000, "{IMAGE}: {user} may be a user of the system");
    assert!(read(IMAGE).contains(&format!("useradd --uid {user} ")), "{IMAGE} makes another user");
}

#[test]
fn the_simulator_of_the_playground_has_no_settings_in_its_environment() {
    let compose = compose();
    assert!(compose["services"]["simulator"].is_object());
    assert_eq!(compose["services"]["simulator"]["environment"], Value::Null, "it refuses those of others");
}

#[test]
fn the_packaged_settings_are_those_of_the_install_document() {
    let document = read("docs/operations/INSTALL.md");
    let (_before, rest) =
        document.split_once("cat > /etc/vendgate/vendgate.toml <<TOML\n").expect("settings");
    let (documented, _after) = rest.split_once("\nTOML\n").expect("their end");
    let documented = documented.replace("$(secret 32)", "");
    let packaged = uncommented(&read("packaging/settings/vendgate.toml"));
    let parsed = |text: &str| toml::from_str::<toml::Table>(text).expect("TOML");
    assert_eq!(
        parsed(&packaged),
        parsed(&documented),
        "packaging/settings/vendgate.toml and INSTALL.md differ"
    );
    for file in ["api-server.env", "retry-worker.env", "migrate.env"] {
        let text = read(&format!("packaging/settings/{file}"));
        let (variable, _value) = text.split_once('=').expect("a variable");
        let variable = variable.rsplit("# ").next().unwrap_or_default();
        assert!(document.contains(&format!("echo \"{variable}=")), "INSTALL.md does not set {variable}");
    }
}

#[test]
fn no_packaged_settings_file_has_a_password_that_works() {
    let mut broken = Vec::new();
    for file in files().into_iter().filter(|file| file.path.starts_with("packaging/settings/")) {
        let set = file.text.lines().filter(|line| !line.starts_with('#'));
        let secrets =
            set.filter(|line| line.contains("key") || line.contains("password") || line.contains("://"));
        broken.extend(secrets.map(|line| format!("{}: {line}", file.path)));
    }
    assert_none(&broken, "A server must not start before its operator has set these, so comment them out:");
}

#[test]
fn only_root_and_one_group_may_read_the_packaged_settings() {
    let script = read("packaging/debian/postinst");
    let install = "install -m 0640 -o root -g \"$user\" \"$template\" \"$file\"";
    assert!(script.contains(install), "the settings hold secrets, so install them with: {install}");
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every object of every manifest.
fn manifests() -> Vec<Value> {
    let files = files_named(".yaml").into_iter().filter(|file| file.path.starts_with(MANIFESTS));
    let parsed = files.map(|file| {
        serde_saphyr::from_multiple::<Value>(&file.text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.path))
    });
    parsed.flatten().collect()
}

fn manifest<'a>(manifests: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let found = manifests.iter().find(|one| one["kind"] == kind && one["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("{MANIFESTS} has no {kind} {name}"))
}

fn pod(manifest: &Value) -> &Value {
    &manifest["spec"]["template"]["spec"]
}

/// The value of a variable of the first container.
fn environment<'a>(manifest: &'a Value, name: &str) -> &'a str {
    let variables = pod(manifest)["containers"][0]["env"].as_array().into_iter().flatten();
    let value =
        variables.filter(|variable| variable["name"] == name).find_map(|variable| variable["value"].as_str());
    value.unwrap_or_else(|| panic!("{} does not set {name}", manifest["metadata"]["name"]))
}

fn compose() -> Value {
    serde_saphyr::from_str(&read(COMPOSE)).unwrap_or_else(|error| panic!("{COMPOSE}: {error}"))
}

fn image_user() -> u64 {
    number_after(IMAGE, "\nUSER ")
}

fn stop_timeout(unit: &str) -> u64 {
    number_after(unit, "\nTimeoutStopSec=")
}

fn number_after(file: &str, mark: &str) -> u64 {
    let text = read(file);
    let (_before, rest) = text.split_once(mark).unwrap_or_else(|| panic!("{file} does not say {mark:?}"));
    first_number(rest)
}

fn first_number(text: &str) -> u64 {
    let digits =
        text.trim_start().chars().take_while(|character| character.is_ascii_digit() || *character == '_');
    let digits: String = digits.filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|error| panic!("{text:.20}: {error}"))
}
