//! The environment of a test: a migrated database of its own, and the operator Naledi, who runs vendctl.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
};

use local_postgres::LocalDatabase;
use serde_json::Value;
use test_kit::database::{OPERATOR, add_logins, migrated};

pub const WHY: [&str; 2] = ["--reason", "contract 17"];

pub struct TestEnv {
    pub database: LocalDatabase,
}

/// How a command ended.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// The JSON of a change that was made, or requested in its place.
    pub fn of_a_change(&self, command: &str) -> Value {
        assert_eq!(self.stderr, "", "{command}");
        let told: Value = serde_json::from_str(&self.stdout).unwrap();
        let is_meant = match self.code {
            0 => !differs(&told),
            3 => told["status"] == "WAITING",
            4 => differs(&told),
            _ => false,
        };
        assert!(is_meant, "{command}: {}", self.code);
        told
    }
}

/// Whether it is a reconciliation with a discrepancy that no person has closed.
fn differs(told: &Value) -> bool {
    let found = told["discrepancies"].as_array().filter(|_| told["judged_from"].is_string());
    found.is_some_and(|found| found.iter().any(|one| one["decided_at"].is_null()))
}

impl TestEnv {
    pub fn open() -> Self {
        let database = migrated();
        add_logins(&database);
        Self { database }
    }

    /// An environment with the staging organisation KGALE and one wallet, and the wallet's number.
    pub fn with_a_wallet() -> (Self, String) {
        let env = Self::open();
        env.creates_organisation("KGALE", "staging");
        let wallet = env.opens_wallet("KGALE");
        (env, wallet)
    }

    pub fn creates_organisation(&self, code: &str, environment: &str) {
        self.does(&["organisation", "create", code, "--name", "Kgale Stores", "--environment", environment]);
    }

    pub fn opens_wallet(&self, code: &str) -> String {
        let opened = self.does(&["account", "open", "-o", code, "--name", "Wallet", "--currency", "BWP"]);
        opened["id"].to_string()
    }

    /// The URL of the database for a login.
    pub fn url_as(&self, login: &str) -> String {
        self.database.url_as(login, login)
    }

    /// The path of a file of this name that no other test has. Two processes with servers of their own have databases of
    /// the same name.
    pub fn file(&self, name: &str) -> PathBuf {
        let name = format!("vendgate-{}-{}-{name}", process::id(), self.database.name());
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
    }

    /// Runs a command that changes something, or requests it, with a reason. It must succeed. Returns its JSON.
    pub fn does(&self, arguments: &[&str]) -> Value {
        self.types(&[&["--json"], arguments, &WHY].concat(), "").of_a_change(&format!("{arguments:?}"))
    }

    /// Runs a query. It must succeed. Returns its JSON.
    pub fn shows(&self, arguments: &[&str]) -> Value {
        let outcome = self.types(&[&["--json"], arguments].concat(), "");
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{arguments:?}");
        serde_json::from_str(&outcome.stdout).unwrap()
    }

    /// Runs a command that changes something. It must be refused. Returns the one line of the error.
    pub fn is_refused(&self, arguments: &[&str]) -> String {
        let outcome = self.types(&[arguments, &WHY].concat(), "");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{arguments:?}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
        outcome.stderr.trim_end().strip_prefix("vendctl: ").unwrap().to_owned()
    }

    /// Runs a command with `input` on standard input.
    pub fn types(&self, arguments: &[&str], input: &str) -> Outcome {
        run(&self.url_as(OPERATOR), arguments, input)
    }

    /// Runs a command with further environment variables.
    pub fn types_with(&self, environment: &[(&str, &str)], arguments: &[&str], input: &str) -> Outcome {
        let url = self.url_as(OPERATOR);
        let naledi =
            [("VENDGATE__OPERATOR__DATABASE_URL", url.as_str()), ("VENDGATE__OPERATOR__ACTOR", "naledi")];
        run_in(naledi.into_iter().chain(environment.iter().copied()), arguments, input)
    }

    pub fn sql(&self, sql: &str) -> String {
        self.database.run_sql(sql).unwrap()
    }
}

/// Runs the program as Naledi, with no other environment variable.
pub fn run(database_url: &str, arguments: &[&str], input: &str) -> Outcome {
    let url = ("VENDGATE__OPERATOR__DATABASE_URL", database_url);
    run_in([url, ("VENDGATE__OPERATOR__ACTOR", "naledi")], arguments, input)
}

/// Runs the program without an actor.
pub fn run_unnamed(database_url: &str, arguments: &[&str]) -> Outcome {
    run_in([("VENDGATE__OPERATOR__DATABASE_URL", database_url)], arguments, "")
}

/// Runs the program without environment variables.
pub fn run_bare(arguments: &[&str]) -> Outcome {
    run_in([], arguments, "")
}

/// Runs the program with exactly these environment variables.
pub fn run_in_env<const N: usize>(
    environment: [(&str, &str); N],
    arguments: &[&str],
    input: &str,
) -> Outcome {
    run_in(environment, arguments, input)
}

fn run_in<'a>(
    environment: impl IntoIterator<Item = (&'a str, &'a str)>,
    arguments: &[&str],
    input: &str,
) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vendctl"));
    command.env_clear().envs(environment).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that does not read its input may have ended already.
    let _unread = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
