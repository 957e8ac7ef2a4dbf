//! A `cargo sandbox` process that serves.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Pid;
use serde_json::Value;

pub const PATIENCE: Duration = Duration::from_mins(1);

/// A sandbox that has finished the tour and serves.
pub struct Serving {
    pub process: Child,
    pub directory: PathBuf,
    pub info: Value,
    pub api: String,
    pub simulator: String,
    postgres: String,
    /// The monitoring addresses of the API server and of the worker.
    pub watched: [String; 2],
    /// The lines that it printed until it served.
    pub said_first: Vec<String>,
    /// The lines that it prints after that.
    pub later: Receiver<String>,
}

impl Serving {
    pub fn start(name: &str) -> Self {
        let directory = directory(name);
        let process = sandbox(&["--port", "0"], &directory).spawn().unwrap();
        Self::of(process, directory)
    }

    /// Waits until a started command serves.
    pub fn of(mut process: Child, directory: PathBuf) -> Self {
        let lines = lines_of(&mut process);
        Self::that_prints(lines, process, directory)
    }

    /// Waits until a started command serves, some of whose lines may have been read before.
    pub fn that_prints(later: Receiver<String>, process: Child, directory: PathBuf) -> Self {
        let said_first: Vec<String> =
            later.iter().take_while(|line| line != "Serving until Ctrl-C.").collect();
        let info: Value =
            serde_json::from_str(&fs::read_to_string(directory.join("sandbox.json")).unwrap()).unwrap();
        let url = |key: &str| info[key].as_str().unwrap().to_owned();
        let (_, database) =
            url("database_url").split_once('@').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let postgres = database.split('/').next().unwrap().to_owned();
        let watched = [0, 1].map(|index| {
            let metrics = info["metrics_urls"][index].as_str().unwrap();
            metrics.strip_suffix("/metrics").unwrap().to_owned()
        });
        let (api, simulator) = (url("base_url"), url("simulator_url"));
        let serving = Self { process, directory, info, api, simulator, postgres, watched, said_first, later };
        assert!(is_there(&serving.api) && is_there(&serving.simulator) && is_there(&serving.postgres));
        serving
    }

    /// The process of a part.
    pub fn child(&self, part: &str) -> Pid {
        self.find(part).expect("the part is running")
    }

    /// The process of a part, if there is one now.
    pub fn find(&self, part: &str) -> Option<Pid> {
        child_of(&self.process, part)
    }

    /// The next line that it prints.
    pub fn said(&self) -> String {
        self.later.recv_timeout(PATIENCE).expect("it prints a line")
    }

    pub fn leaves_nothing(&self) {
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

/// The lines that a command prints. They are read to the end, so that it can print that it stops.
pub fn lines_of(process: &mut Child) -> Receiver<String> {
    let lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let (sender, receiver) = channel();
    thread::spawn(move || lines.for_each(|line| drop(sender.send(line))));
    receiver
}

/// The child process that runs a part, if there is one now. The migration also runs under the server's name and is
/// excluded.
pub fn child_of(parent: &Child, part: &str) -> Option<Pid> {
    let parent = format!("\nPPid:\t{}\n", parent.id());
    let runs_part = |process: &PathBuf| {
        let of = |file: &str| fs::read_to_string(process.join(file)).unwrap_or_default();
        let command = of("cmdline");
        let mut arguments = command.split('\0').skip(1);
        let is_the_part = arguments.next() == Some(part) && arguments.next() != Some("migrate");
        is_the_part && of("status").contains(&parent)
    };
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    processes.filter(runs_part).find_map(|process| {
        process.file_name().unwrap().to_str().unwrap().parse().ok().and_then(Pid::from_raw)
    })
}

pub fn sandbox(arguments: &[&str], directory: &PathBuf) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sandbox"));
    command.args(arguments).arg("--directory").arg(directory);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn directory(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sandbox-{name}"))
}

pub fn is_there(address: &str) -> bool {
    TcpStream::connect(address.trim_start_matches("http://")).is_ok()
}
