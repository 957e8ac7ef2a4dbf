//! The tour and the end of the command, which leaves no process running.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt, process::Output};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::serving::{Serving, directory, is_there, sandbox};

#[test]
fn once_takes_the_tour_and_ends_well_with_the_facts_in_their_file() {
    let directory = directory("once");
    let output = sandbox(&["--once", "--port", "0"], &directory).output().unwrap();
    let printed = text(&output);
    assert!(output.status.success(), "{printed}");
    for sentence in [
        "accepts it: credit, 66.6 kWh",
        "refuses it: already used",
        "accepts it: credit, 2400 L",
        "phone      26771",
        "confirm    200 PENDING",
        "worker     SUCCESSFUL, ",
        "SMS        ",
        "purchases show ",
        "curl -s http://127.0.0.1:",
    ] {
        assert!(printed.contains(sentence), "{sentence:?} is not in:\n{printed}");
    }

    let file = directory.join("sandbox.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let info: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let credentials = ["client_id", "client_secret", "org_code", "identifier", "secret_pass"];
    assert_eq!(keys(&info["credentials"]), sorted(&credentials));
    assert_eq!(keys(&info["second_organisation"]), sorted(&credentials));
    let expected = [
        "base_url",
        "simulator_url",
        "control_url",
        "console_url",
        "database_url",
        "metrics_urls",
        "credentials",
        "second_organisation",
        "account_id",
        "managed_account_id",
        "subscribers",
    ];
    assert_eq!(keys(&info), sorted(&expected));
    assert_eq!(keys(&info["subscribers"]), sorted(&["electricity", "water", "airtime"]));
    for (product, subscribers) in [("electricity", 22), ("water", 3), ("airtime", 4)] {
        assert_eq!(info["subscribers"][product].as_object().unwrap().len(), subscribers, "{product}");
    }
    assert_eq!(info["metrics_urls"].as_array().unwrap().len(), 2);
    for url in ["base_url", "simulator_url", "control_url", "console_url"] {
        assert!(!is_there(info[url].as_str().unwrap()), "{url} still answers");
    }
}

#[test]
fn a_sandbox_of_production_takes_the_same_tour() {
    let directory = directory("production");
    let output = sandbox(&["--once", "--production", "--port", "0"], &directory).output().unwrap();
    let printed = text(&output);
    assert!(output.status.success() && printed.contains("worker     SUCCESSFUL, "), "{printed}");
    let settings = fs::read_to_string(directory.join("api-server.toml")).unwrap();
    assert!(settings.contains("environment = \"PRODUCTION\""), "{settings}");
}

#[test]
fn ctrl_c_and_sigterm_end_it_in_good_order() {
    for (signal, name) in [(Signal::INT, "interrupted"), (Signal::TERM, "terminated")] {
        let mut serving = Serving::start(name);
        kill_process(Pid::from_child(&serving.process), signal).unwrap();
        assert!(serving.process.wait().unwrap().success(), "{name}");
        serving.leaves_nothing();
    }
}

#[test]
fn killing_it_leaves_nothing_behind() {
    let mut serving = Serving::start("killed");
    serving.process.kill().unwrap();
    serving.process.wait().unwrap();
    serving.leaves_nothing();
}

#[test]
fn a_port_that_is_taken_is_told_in_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = sandbox(&["--once", "--port", &port], &directory("taken")).output().unwrap();
    assert!(!output.status.success());
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        message,
        format!(
            "sandbox: port {port} is taken: stop what listens there, or choose another one with --port\n"
        )
    );
}

#[test]
fn a_directory_is_of_one_sandbox_at_a_time() {
    let mut serving = Serving::start("shared");
    let facts = fs::read_to_string(serving.directory.join("sandbox.json")).unwrap();
    let second = || sandbox(&["--once", "--port", "0"], &serving.directory).output().unwrap();
    let refused = second();
    assert!(!refused.status.success(), "{}", text(&refused));
    let expected = format!(
        "sandbox: another sandbox is running in {}: end it, or choose another directory with --directory\n",
        serving.directory.display()
    );
    assert_eq!(String::from_utf8(refused.stderr).unwrap(), expected);
    assert_eq!(fs::read_to_string(serving.directory.join("sandbox.json")).unwrap(), facts);
    assert!(is_there(&serving.api) && is_there(&serving.simulator), "the first one goes on");

    serving.process.kill().unwrap();
    serving.process.wait().unwrap();
    let next = second();
    assert!(next.status.success(), "{}", text(&next));
}

fn keys(object: &Value) -> Vec<&str> {
    let keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    sorted(&keys)
}

fn sorted<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut words = words.to_vec();
    words.sort_unstable();
    words
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
