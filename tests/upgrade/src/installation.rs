//! Two servers and a worker, whose programs are replaced one by one, as an operator does it.

use std::{
    fmt,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use acceptance::{fault_injection::FaultEnv, time::Deadline};
use sandbox::{Process, Program, Programs, Signal};

use crate::{Failure, release::Migration};

/// Longer than any vend under way.
const DRAINED_WITHIN: Duration = Duration::from_secs(160);

/// Takes back what the release before does not have, after the servers that seeded the database have ended.
pub fn take_back(env: &mut FaultEnv, lacks: &[Migration]) -> Result<(), Failure> {
    env.sandbox.api_server().signal(Signal::TERM)?;
    let deadline = Deadline::after(DRAINED_WITHIN);
    while env.sandbox.ended().is_none() {
        if deadline.is_over() {
            return Err("the server that seeded the database does not end".into());
        }
        std::thread::yield_now();
    }
    let database = env.sandbox.database();
    for Migration { version, down, .. } in lacks.iter().rev() {
        // The owner keeps what it owns, but an index can be dropped concurrently in no transaction.
        let as_owner = if down.contains(" CONCURRENTLY ") { "" } else { "SET ROLE vendgate_owner;" };
        database.run_sql(&format!("{as_owner} {down}"))?;
        database.run_sql(&format!("DELETE FROM __diesel_schema_migrations WHERE version = '{version}'"))?;
    }
    Ok(())
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::FirstServer => "the first server",
            Self::SecondServer => "the second server",
            Self::Worker => "the worker",
        })
    }
}

/// What is installed.
pub struct Installation {
    env: Arc<FaultEnv>,
    /// Two servers.
    servers: [Process; 2],
    worker: Process,
}

/// A process of the installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    FirstServer,
    SecondServer,
    Worker,
}

impl Installation {
    /// Starts the programs of a release.
    pub fn of(programs: &Programs, env: Arc<FaultEnv>) -> Result<Self, Failure> {
        let server = |name| env.sandbox.another_api_server(&programs.api_server, name, &[]);
        let servers = [server("first-server")?, server("second-server")?];
        let worker = env.sandbox.another_retry_worker(&programs.retry_worker, "worker", &[])?;
        Ok(Self { env, servers, worker })
    }

    /// Where the tills buy.
    pub fn urls(&self) -> Vec<String> {
        self.servers.iter().map(|server| server.url().to_owned()).collect()
    }

    /// Replaces the program of a part: the old one ends what is under way, and the new one starts at the same address with the
    /// same settings.
    pub fn replace(&mut self, part: Part, programs: &Programs) -> Result<(), Failure> {
        let [first, second] = &mut self.servers;
        let (process, program) = match part {
            Part::FirstServer => (first, &programs.api_server),
            Part::SecondServer => (second, &programs.api_server),
            Part::Worker => (&mut self.worker, &programs.retry_worker),
        };
        process.signal(Signal::TERM)?;
        let status = process.ends_within(DRAINED_WITHIN).ok_or("a process did not end")?;
        if !status.success() {
            return Err(
                format!("{} ended with {status} (see {})", process.name(), process.log().display()).into()
            );
        }
        *process = process.start_again_with(program)?;
        Ok(())
    }

    /// Runs `api-server migrate` of a release. Returns what it printed.
    pub fn migrate(&self, program: &Program) -> Result<String, Failure> {
        let mut migrating = Command::new(&program.path)
            .args(&program.leading_arguments)
            .arg("migrate")
            .arg(self.env.directory().join("migrate.toml"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        // The program ends when its standard input does.
        let _lifeline = migrating.stdin.take();
        let output = migrating.wait_with_output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Starts one more server, which an operator has forgotten, or why it does not start.
    pub fn straggler(&self, programs: &Programs) -> Result<Process, Failure> {
        Ok(self.env.sandbox.another_api_server(&programs.api_server, "straggler", &[])?)
    }

    /// The processes that have ended, which none should.
    pub fn ended(&mut self) -> Vec<String> {
        let all = self.servers.iter_mut().chain([&mut self.worker]);
        all.filter_map(|process| {
            let status = process.has_ended()?;
            Some(format!("{} has ended ({status}; see {})", process.name(), process.log().display()))
        })
        .collect()
    }
}
