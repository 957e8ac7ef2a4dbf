//! Destroys a database that sells, restores it from its base copy and its archive, and checks what is left.
//!
//! `just restore-drill` restores to the end of the archive, where nothing may be missing, and then to an earlier moment,
//! where no purchase number may be given out again, and the operator brings back what is missing with the provider's statement and
//! `vendctl recover`. The exit status is not zero when a promise is broken.

#![expect(clippy::print_stdout, reason = "it prints its results for the operator")]

mod archive;
mod drill;
mod recovery;
mod report;
mod server;

use std::{env, error::Error, fs, process::ExitCode, sync::Arc};

use acceptance::fault_injection::{FaultEnv, MANY_METERS, now};
use sandbox::{Options, Pace, Programs, parts};
use tokio::runtime::Builder;

use crate::{drill::Drill, server::Account};

/// Why there is no result.
type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("vendctl") {
        return Ok(operator_commands::main(env::args_os().skip(1)));
    }
    if let Some((_part, outcome)) = parts::run(&mut env::args().skip(1).peekable()) {
        return outcome.map(|()| ExitCode::SUCCESS);
    }
    let is_kept = run().map_err(|failure| -> Box<dyn Error> { failure })?;
    Ok(if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns whether every promise was kept.
fn run() -> Result<bool, Failure> {
    let forgets_numbers = match env::args().nth(1).as_deref() {
        None => false,
        Some("--forget-numbers") => true,
        Some(_) => return Err("usage: restore-drill [--forget-numbers]".into()),
    };
    let directory = env::temp_dir().join(format!("vendgate-restore-{}", now()));
    fs::create_dir_all(&directory)?;
    println!("logs are in {}", directory.display());
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let options = Options {
        pace: Pace::Brisk,
        works: false,
        population: MANY_METERS,
        ..Options::for_tests(directory.join("service"))
    };
    let env = Arc::new(FaultEnv::start_with(options, Programs::of_this_executable()?));
    let postgres = env.sandbox.postgres().ok_or("the sandbox has no Postgres of its own")?;
    let account = Account::of(&postgres.directory().join("data"))?;
    account.owns(&directory)?;
    let drill =
        Drill { runtime: &runtime, env: env.clone(), directory: &directory, account, forgets_numbers };
    let report = drill.run()?;
    println!("\n{report}");
    if report.is_kept() {
        fs::remove_dir_all(&directory)?;
    }
    Ok(report.is_kept())
}
