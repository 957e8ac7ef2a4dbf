//! Rehearses an upgrade: the release before sells under load, is migrated and replaced server by server, then rolled back,
//! then brought forward again. The checker of the crash tests judges everything that happened.
//!
//! `just upgrade` needs a clone that has the commit of the release before. The exit status is not zero when a promise is broken.

#![expect(clippy::print_stdout, reason = "it prints its results for the operator")]

mod arguments;
mod installation;
mod rehearsal;
mod release;
mod report;

use std::{env, error::Error, fs, process::ExitCode, sync::Arc};

use acceptance::fault_injection::{FaultEnv, MANY_METERS, now};
use sandbox::{Options, Pace, Programs, parts};
use tokio::runtime::Builder;

use crate::{arguments::Arguments, installation::Installation, rehearsal::Rehearsal, release::Release};

/// Why there is no result.
type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some((_part, outcome)) = parts::run(&mut env::args().skip(1).peekable()) {
        return outcome.map(|()| ExitCode::SUCCESS);
    }
    let is_kept = run().map_err(|failure| -> Box<dyn Error> { failure })?;
    Ok(if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns whether every promise was kept.
fn run() -> Result<bool, Failure> {
    let arguments = Arguments::parse(env::args().skip(1))?;
    let before = Release::before(arguments.from.as_deref())?;
    println!("upgrade from {} ({})", before.name, before.commit);
    if arguments.builds {
        return Ok(true);
    }
    let directory = env::temp_dir().join(format!("vendgate-upgrade-{}", now()));
    fs::create_dir_all(&directory)?;
    println!("logs are in {}", directory.display());
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let options = Options {
        pace: Pace::Brisk,
        webhooks_stay_here: false,
        certifies: false,
        works: false,
        population: MANY_METERS,
        ..Options::for_tests(directory.join("service"))
    };
    let programs = Programs::of_this_executable()?;
    let mut env = FaultEnv::start_with(options, programs.clone());
    installation::take_back(&mut env, &before.lacks)?;
    let env = Arc::new(env);
    let installation = Installation::of(&before.programs, env.clone())?;
    let Arguments { breaks, longest_pause, .. } = arguments;
    let rehearsal =
        Rehearsal { runtime: &runtime, env, before: &before, programs: &programs, breaks, longest_pause };
    let report = rehearsal.run(installation)?;
    println!("\n{report}");
    if report.is_kept() {
        fs::remove_dir_all(&directory)?;
    }
    Ok(report.is_kept())
}
