//! A machine for an installation: an empty Postgres, a simulated vendor, and its own root directory.

use std::{
    fs::{self, File, Permissions},
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use clock::SystemClock;
use local_postgres::{Durability, LocalPostgres};
use sandbox::free_port;
use serde_json::Value;
use utility_sim::{MessageSettings, Simulator, SimulatorSettings};

use crate::{env::directory, installed};

const OPERATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operations");

/// What replaces the placeholder in the document.
const PASSWORD: &str = "a-real-secret";

/// Runs the document's commands with this machine's paths and ports.
pub struct Machine {
    pub root: PathBuf,
    pub simulator: Simulator,
    pub postgres: LocalPostgres,
    pub meter: String,
    pub api: String,
    changes: Vec<(&'static str, String)>,
    /// The programs end when this is closed.
    _lifeline: File,
}

impl Machine {
    pub fn unpacked() -> Self {
        for program in ["bash", "curl"] {
            installed::needs(program);
        }
        let root = directory().join("install");
        let _not_there = fs::remove_dir_all(&root);
        for place in ["bin", "units", "run", "docs"] {
            fs::create_dir_all(root.join(place)).unwrap();
        }
        let simulator = Simulator::start(&vendor(), Arc::new(SystemClock)).unwrap();
        let meter = utility_sim::population(1).next().unwrap();
        let postgres = LocalPostgres::start(Durability::Throwaway).unwrap();
        let [http, observe, worker] = [0, 0, 0].map(|any| free_port(any).unwrap());
        let place = |name: &str| root.join(name).display().to_string();
        let changes = vec![
            ("/etc/vendgate", place("etc")),
            ("/etc/systemd/system", place("units")),
            ("docs/operations/systemd", place("docs")),
            ("127.0.0.1:5432", format!("127.0.0.1:{}", postgres.port())),
            ("9461 9471", format!("{observe} {worker}")),
            ("https://vendgate.example.org", format!("http://127.0.0.1:{http}")),
            ("https://gateway.example", simulator.url()),
            ("https://sms.example", simulator.url()),
            (
                "mail.example\"\nusername = \"vendgate\"\npassword = \"CHANGE-ME\"\n",
                format!("127.0.0.1\"\nport = {}\nsecurity = \"none\"\n", simulator.smtp_address().port()),
            ),
            ("CHANGE-ME", PASSWORD.to_owned()),
            ("04257670465", meter.clone()),
        ];
        let lifeline = make_lifeline(&root.join("lifeline"));
        let api = format!("http://127.0.0.1:{http}/public/v1");
        let machine = Self { root, simulator, postgres, meter, api, changes, _lifeline: lifeline };
        machine.unpack_programs();
        machine.unpack_units([http, observe, worker]);
        machine
    }

    /// Runs every block of the document that has the mark, and returns the output.
    pub fn types(&self, mark: &str) -> String {
        let mut script = blocks(mark).join("\n");
        for (documented, here) in &self.changes {
            if mark == "install" {
                assert!(script.contains(documented), "INSTALL.md does not say {documented:?} any more");
            }
            script = script.replace(documented, here);
        }
        let typed = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &script])
            .env_clear()
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.root.join("bin").display()))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&typed.stderr);
        assert!(typed.status.success(), "{said}\n{}", self.logs());
        String::from_utf8(typed.stdout).unwrap()
    }

    /// The output of `vendctl`, called by the operator.
    pub fn operator(&self, words: &str) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_acceptance-vendctl"))
            .env_clear()
            .args(["--json", "--settings"])
            .arg(self.root.join("etc/vendctl.toml"))
            .args(words.split(' '))
            .output()
            .unwrap();
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The result of a query as the superuser of the installation's database.
    pub fn asks_the_database(&self, sql: &str) -> String {
        let url = self.postgres.database_url("vendgate").unwrap();
        let program = self.postgres.program("psql");
        let output = Command::new(program).args(["-qtA", "-c", sql, &url]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    fn unpack_programs(&self) {
        let lifeline = self.root.join("lifeline").display().to_string();
        let of = |program: &str| format!("#!/bin/sh\nexec {program} \"$@\" < {lifeline}\n");
        self.program("api-server", &of(env!("CARGO_BIN_EXE_acceptance-api-server")));
        self.program("retry-worker", &of(env!("CARGO_BIN_EXE_acceptance-retry-worker")));
        let vendctl = env!("CARGO_BIN_EXE_acceptance-vendctl");
        self.program("vendctl", &format!("#!/bin/sh\nexec {vendctl} \"$@\"\n"));
        self.program("sudo", "#!/bin/sh\nshift 2\nexec \"$@\"\n");
        let psql = self.postgres.program("psql").display().to_string();
        let url = self.postgres.superuser_url();
        self.program("psql", &format!("#!/bin/sh\nexec {psql} \"$@\" {url}\n"));
        let (units, run) = (self.root.join("units"), self.root.join("run"));
        let places = format!("UNITS={}\nRUN={}\n", units.display(), run.display());
        let (first_line, rest) = include_str!("systemctl.sh").split_once('\n').unwrap();
        self.program("systemctl", &format!("{first_line}\n{places}{rest}"));
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.root.join("bin").join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }

    fn unpack_units(&self, [http, observe, worker]: [u16; 3]) {
        let place = |name: &str| self.root.join(name).display().to_string();
        let changes = [
            ("/usr/local/bin", place("bin")),
            ("/etc/vendgate", place("etc")),
            ("127.0.0.1:808%i", format!("127.0.0.1:{http}")),
            ("127.0.0.1:946%i", format!("127.0.0.1:{observe}")),
            ("127.0.0.1:947%i", format!("127.0.0.1:{worker}")),
        ];
        for unit in fs::read_dir(Path::new(OPERATIONS).join("systemd")).unwrap() {
            let unit = unit.unwrap();
            let mut text = fs::read_to_string(unit.path()).unwrap();
            for (documented, here) in &changes {
                text = text.replace(documented, here);
            }
            fs::write(self.root.join("docs").join(unit.file_name()), text).unwrap();
        }
    }

    fn logs(&self) -> String {
        let logs = fs::read_dir(self.root.join("run")).unwrap().map(|log| log.unwrap().path());
        logs.map(|log| fs::read_to_string(log).unwrap()).collect()
    }
}

/// A vendor with the names of the document, and with the password that replaces its placeholder.
fn vendor() -> SimulatorSettings {
    let messages = MessageSettings {
        username: "vendgate".to_owned(),
        password: PASSWORD.into(),
        ..MessageSettings::default()
    };
    SimulatorSettings { population: 1, password: PASSWORD.into(), messages, ..SimulatorSettings::default() }
}

/// The document's blocks with this mark, in order.
fn blocks(mark: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(OPERATIONS).join("INSTALL.md")).unwrap();
    let fence = format!("\n```sh {mark}\n");
    let blocks = text.split(&fence).skip(1).map(|rest| rest.split("\n```\n").next().unwrap().to_owned());
    let blocks: Vec<String> = blocks.collect();
    assert!(!blocks.is_empty(), "INSTALL.md has no block that is marked {mark}");
    blocks
}

/// A pipe that is never written to and stays open while this process lives.
fn make_lifeline(path: &Path) -> File {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let mut lifeline = File::options().read(true).write(true).open(path).unwrap();
    lifeline.flush().unwrap();
    lifeline
}
