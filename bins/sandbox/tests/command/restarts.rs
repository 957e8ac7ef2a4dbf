//! An ended part is restarted and reported in one line. The end of a part does not end the sandbox.

use std::{
    fs,
    path::PathBuf,
    process::Child,
    sync::mpsc::Receiver,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::serving::{self, PATIENCE, Serving, is_there};

#[test]
fn a_server_that_is_killed_is_said_to_have_ended_and_started_again_where_it_was() {
    let serving = Serving::start("crashed");
    for part in ["retry-worker", "api-server"] {
        kill_process(serving.child(part), Signal::KILL).unwrap();
        let said = serving.said();
        assert!(said.starts_with(&format!("{part} has ended (signal: 9 (SIGKILL); see ")), "{said}");
        assert!(said.ends_with(&format!("/{part}.log); it is started again in 250ms.")), "{said}");
        assert_eq!(serving.said(), format!("{part} is up again."));
        assert!(is_there(&serving.api) && is_there(&serving.watched[0]) && is_there(&serving.watched[1]));
    }
    ends_well(serving);
}

/// Starts a sandbox and kills each part as soon as it is found, until three starts have failed. A part may be ready before it is found.
/// Then the kill of the next part fails this start. On a busy machine a start may even succeed: that is `None`.
fn fails_three_times(directory: &PathBuf, began: Instant) -> Option<(Vec<String>, Receiver<String>, Child)> {
    let facts = directory.join("sandbox.json");
    // Of an earlier start.
    let _was_not_there = fs::remove_file(&facts);
    let mut process = serving::sandbox(&["--port", "0"], directory).spawn().unwrap();
    let lines = serving::lines_of(&mut process);
    let mut reported = Vec::new();
    while reported.len() < 3 {
        for part in ["utility-sim", "api-server", "retry-worker", "console"] {
            if let Some(starting) = serving::child_of(&process, part) {
                let _ended_before = kill_process(starting, Signal::KILL);
            }
        }
        reported.extend(lines.try_iter().filter(|line| line.starts_with("The sandbox did not start: ")));
        if facts.exists() && reported.len() < 3 {
            process.kill().unwrap();
            process.wait().unwrap();
            return None;
        }
        let is_late = began.elapsed() >= PATIENCE;
        if is_late {
            // It would hold the directory, and so fail the next run of this test.
            process.kill().unwrap();
            process.wait().unwrap();
        }
        assert!(!is_late, "only {reported:?}");
    }
    Some((reported, lines, process))
}

#[test]
fn a_server_that_is_killed_in_the_very_first_start_does_not_end_the_sandbox() {
    let directory = serving::directory("first-start");
    let began = Instant::now();
    let (reported, lines, process) = loop {
        if let Some(failed) = fails_three_times(&directory, began) {
            break failed;
        }
    };
    for (line, pause) in reported.iter().zip(["250ms", "500ms", "1s"]) {
        assert!(line.contains(" ended: signal: 9 (SIGKILL) (see "), "{line}");
        assert!(line.ends_with(&format!(". Trying again in {pause}.")), "{line}");
    }
    let serving = Serving::that_prints(lines, process, directory);
    assert!(
        !serving.said_first.iter().any(|line| line.contains("did not start")),
        "{:?}",
        serving.said_first
    );
    ends_well(serving);
}

#[test]
fn three_mistakes_in_a_settings_file_are_named_at_once_and_mended_while_it_runs() {
    let serving = Serving::start("mistaken");
    let file = serving.directory.join("api-server.toml");
    let correct = fs::read_to_string(&file).unwrap();
    let mistaken = correct
        .replace("[web]\n", "[web]\nbody_within_ms = \"soon\"\nbody_byte_max = 10\n")
        .replace("[store]\ndatabase_url", "[store]\n# database_url");
    fs::write(&file, mistaken).unwrap();

    kill_process(serving.child("api-server"), Signal::KILL).unwrap();
    assert!(serving.said().starts_with("api-server has ended (signal: 9 (SIGKILL); see "));
    let said = serving.said();
    assert!(said.starts_with("api-server did not start (exit status: 1, last output: 3 settings "), "{said}");
    for mistake in [
        "`store.database_url` is missing",
        "`web.body_byte_max` is unknown: what can be set here is ",
        "`web.body_within_ms` is wrong: an integer is expected",
    ] {
        assert!(said.contains(mistake), "{mistake} is not in {said}");
    }
    assert!(said.contains("/api-server.log); it is tried again in 500ms."), "{said}");
    assert!(is_there(&serving.simulator) && is_there(&serving.watched[1]), "the others go on");

    fs::write(&file, correct).unwrap();
    while serving.said() != "api-server is up again." {}
    assert!(is_there(&serving.api) && is_there(&serving.watched[0]));
    ends_well(serving);
}

#[test]
fn a_start_that_hangs_delays_neither_the_start_of_another_part_nor_the_end() {
    let serving = Serving::start("hanging");
    let first = serving.child("api-server");
    kill_process(first, Signal::KILL).unwrap();
    assert!(serving.said().starts_with("api-server has ended "));
    let began = Instant::now();
    let hanging = loop {
        let next = serving.find("api-server").filter(|next| *next != first);
        if let Some(next) = next {
            break next;
        }
        assert!(began.elapsed() < PATIENCE);
    };
    kill_process(hanging, Signal::STOP).unwrap();

    kill_process(serving.child("retry-worker"), Signal::KILL).unwrap();
    assert!(serving.said().starts_with("retry-worker has ended "));
    assert_eq!(serving.said(), "retry-worker is up again.");
    ends_well(serving);
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
}

#[test]
fn the_utility_remembers_what_it_vended_although_it_was_killed() {
    let serving = Serving::start("remembered");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let meter = serving.info["subscribers"]["electricity"]["lost_reply"].as_str().unwrap().to_owned();
    let till = runtime.block_on(Till::log_in(&serving));
    let order = json!({
        "source_channel": "WEB", "language": "en-BW", "product_type": "ELECTRICITY", "provider_code": "BPC",
        "debited_account_id": serving.info["account_id"], "beneficiary_phone_number": "26771234567",
        "subscriber_identifier": meter, "amount": 100.00, "currency": "BWP", "external_reference": "lost-1",
    });
    let (status, answer) = runtime.block_on(till.posts("/purchases/confirm", &order));
    assert_eq!(status, 504, "{answer}");

    kill_process(serving.child("utility-sim"), Signal::KILL).unwrap();
    assert!(serving.said().starts_with("utility-sim has ended (signal: 9 (SIGKILL); see "));
    assert_eq!(
        serving.said(),
        "utility-sim is up again: its inbox and its fault script are empty; vends, meters and answers are \
         restored."
    );
    let vends: Vec<Value> =
        runtime.block_on(till.gets(&format!("{}/vends?subscriber={meter}", serving.simulator)));
    let vended = vends.last().unwrap();
    let question = json!({ "source_channel": "WEB", "language": "en-BW", "subscriber_identifier": meter, "external_reference": "lost-1" });
    let (status, answer) = runtime.block_on(till.posts("/purchases/retry", &question));
    assert_eq!((status, &answer["product"]["token"]), (200, &vended["tokens"][0]), "{answer}");
    ends_well(serving);
}

#[test]
fn ctrl_c_while_it_is_starting_ends_it_at_once_and_leaves_nothing() {
    for milliseconds in [0, 1_000, 2_000] {
        let directory = serving::directory("starting");
        let mut process = serving::sandbox(&["--port", "0"], &directory).spawn().unwrap();
        // Before its first line, a signal is not caught yet: it ends the process, or is lost if the shell ignores it.
        let lines = serving::lines_of(&mut process);
        assert!(lines.recv_timeout(PATIENCE).unwrap().starts_with("Bringing up"));
        std::thread::sleep(Duration::from_millis(milliseconds));
        let began = Instant::now();
        kill_process(Pid::from_child(&process), Signal::INT).unwrap();
        while process.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < PATIENCE, "Ctrl-C after {milliseconds} ms does not end it");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(process.wait().unwrap().success());
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
        let ports = fs::read_to_string(directory.join("utility-sim.toml")).unwrap_or_default();
        for line in ports.lines().filter(|line| line.contains("127.0.0.1:")) {
            let address = line.split('"').nth(1).unwrap();
            while is_there(address) {
                assert!(began.elapsed() < PATIENCE, "{address} still answers");
            }
        }
    }
}

fn ends_well(mut serving: Serving) {
    kill_process(Pid::from_child(&serving.process), Signal::TERM).unwrap();
    assert!(serving.process.wait().unwrap().success());
    serving.leaves_nothing();
}

/// The client of the first organisation.
struct Till {
    client: reqwest::Client,
    api: String,
    bearer: String,
}

impl Till {
    async fn log_in(serving: &Serving) -> Self {
        let client = sandbox::http_client().unwrap();
        let mut till = Self { client, api: format!("{}/public/v1", serving.api), bearer: String::new() };
        let mut login = serving.info["credentials"].clone();
        (login["grant_type"], login["source_channel"]) = (json!("password"), json!("WEB"));
        let (status, answer) = till.posts("/auth/login", &login).await;
        assert_eq!(status, 200, "{answer}");
        answer["access_token"].as_str().unwrap().clone_into(&mut till.bearer);
        till
    }

    async fn posts(&self, path: &str, body: &Value) -> (u16, Value) {
        let post = self.client.post(format!("{}{path}", self.api)).header("Content-Type", "application/json");
        let answer = post.bearer_auth(&self.bearer).body(body.to_string()).send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap())
    }

    async fn gets(&self, url: &str) -> Vec<Value> {
        let answer = self.client.get(url).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }
}
