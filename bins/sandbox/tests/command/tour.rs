//! The command itself, as a person types it: the tour, the end, and what is left behind, which is nothing.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::indexing_slicing, reason = "a fact that is missing fails the test")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are watched from outside, by the machine's own time"
)]

use std::{
    fs,
    io::{BufRead, BufReader},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn once_takes_the_tour_and_ends_well_with_the_facts_in_their_file() {
    let directory = directory("once");
    let output = sandbox(&["--once", "--port", "0"], &directory).output().unwrap();
    let told = text(&output);
    assert!(output.status.success(), "{told}");
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
        assert!(told.contains(sentence), "{sentence:?} is not in:\n{told}");
    }

    let file = directory.join("sandbox.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let facts: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let credentials = ["client_id", "client_secret", "org_code", "identifier", "secret_pass"];
    assert_eq!(keys(&facts["credentials"]), sorted(&credentials));
    assert_eq!(keys(&facts["second_organisation"]), sorted(&credentials));
    let expected = [
        "base_url",
        "simulator_url",
        "database_url",
        "metrics_urls",
        "credentials",
        "second_organisation",
        "account_id",
        "managed_account_id",
        "subscribers",
    ];
    assert_eq!(keys(&facts), sorted(&expected));
    assert_eq!(keys(&facts["subscribers"]), sorted(&["electricity", "water", "airtime"]));
    for (product, subscribers) in [("electricity", 21), ("water", 3), ("airtime", 4)] {
        assert_eq!(facts["subscribers"][product].as_object().unwrap().len(), subscribers, "{product}");
    }
    assert_eq!(facts["metrics_urls"].as_array().unwrap().len(), 2);
    for url in ["base_url", "simulator_url"] {
        assert!(!is_there(facts[url].as_str().unwrap()), "{url} still answers");
    }
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
fn a_server_that_is_killed_is_said_to_have_ended_and_started_again_where_it_was() {
    let mut serving = Serving::start("crashed");
    for part in ["retry-worker", "api-server"] {
        kill_process(serving.child(part), Signal::KILL).unwrap();
        let said = serving.says.recv_timeout(PATIENCE).unwrap();
        assert!(said.starts_with(&format!("{part} has ended (signal: 9 (SIGKILL); see ")), "{said}");
        assert!(said.ends_with("), and was started again."), "{said}");
        assert!(is_there(&serving.api) && is_there(&serving.watched[0]) && is_there(&serving.watched[1]));
    }
    kill_process(Pid::from_child(&serving.process), Signal::TERM).unwrap();
    assert!(serving.process.wait().unwrap().success());
    serving.leaves_nothing();
}

#[test]
fn without_what_the_utility_remembers_it_ends() {
    let mut serving = Serving::start("forgotten");
    kill_process(serving.child("utility-sim"), Signal::KILL).unwrap();
    assert!(!serving.process.wait().unwrap().success());
    serving.leaves_nothing();
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
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        complaint,
        format!(
            "sandbox: port {port} is taken: stop what listens there, or choose another one with --port\n"
        )
    );
}

/// A sandbox that has taken the tour and serves.
struct Serving {
    process: Child,
    api: String,
    simulator: String,
    postgres: String,
    /// Where the API server and the worker are watched.
    watched: [String; 2],
    /// What it says after that it serves.
    says: Receiver<String>,
}

impl Serving {
    fn start(name: &str) -> Self {
        let directory = directory(name);
        let mut process = sandbox(&["--port", "0"], &directory).spawn().unwrap();
        let mut told = BufReader::new(process.stdout.take().unwrap()).lines();
        assert!(told.by_ref().any(|line| line.unwrap() == "Serving until Ctrl-C."), "{name}");
        // It must be able to say that it stops.
        let (heard, says) = channel();
        thread::spawn(move || told.map_while(Result::ok).for_each(|line| drop(heard.send(line))));
        let facts: Value =
            serde_json::from_str(&fs::read_to_string(directory.join("sandbox.json")).unwrap()).unwrap();
        let url = |key: &str| facts[key].as_str().unwrap().to_owned();
        let (_, database) =
            url("database_url").split_once('@').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let postgres = database.split('/').next().unwrap().to_owned();
        let watched = [0, 1].map(|index| {
            let metrics = facts["metrics_urls"][index].as_str().unwrap();
            metrics.strip_suffix("/metrics").unwrap().to_owned()
        });
        let (api, simulator) = (url("base_url"), url("simulator_url"));
        let serving = Self { process, api, simulator, postgres, watched, says };
        assert!(is_there(&serving.api) && is_there(&serving.simulator) && is_there(&serving.postgres));
        serving
    }

    /// The process that plays a part.
    fn child(&self, part: &str) -> Pid {
        let parent = format!("\nPPid:\t{}\n", self.process.id());
        let plays = |process: &PathBuf| {
            let of = |file: &str| fs::read_to_string(process.join(file)).unwrap_or_default();
            of("status").contains(&parent) && of("cmdline").split('\0').nth(1) == Some(part)
        };
        let process = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).find(plays).unwrap();
        Pid::from_raw(process.file_name().unwrap().to_str().unwrap().parse().unwrap()).unwrap()
    }

    fn leaves_nothing(&self) {
        let started = Instant::now();
        let [watched_server, watched_worker] = &self.watched;
        let all = [&self.api, &self.simulator, &self.postgres, watched_server, watched_worker];
        while all.into_iter().any(|address| is_there(address)) {
            assert!(started.elapsed() < PATIENCE, "something is still there");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ended_before = self.process.kill();
        let _reaped_before = self.process.wait();
    }
}

fn sandbox(arguments: &[&str], directory: &PathBuf) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sandbox"));
    command.args(arguments).arg("--directory").arg(directory);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn directory(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sandbox-{name}"))
}

fn is_there(address: &str) -> bool {
    TcpStream::connect(address.trim_start_matches("http://")).is_ok()
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
