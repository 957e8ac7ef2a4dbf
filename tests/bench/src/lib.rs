//! Measures what the service promises about speed and memory, each beside a yardstick that is measured at the same time on
//! the same machine. The parts of it that measure are public, because `growth` measures with them too.
//!
//! `just bench` measures everything, `just bench --only a,http` only parts, and `just bench --write` also writes the results
//! into docs/PERFORMANCE.md. `just siege` measures how floods of anonymous requests affect other clients. The exit status is
//! not zero when a goal is missed.

#![expect(clippy::print_stdout, reason = "it prints its results for the operator")]

pub mod arguments;
mod bare_route;
mod callers;
pub mod client;
mod confirms;
mod crowd;
pub mod document;
mod drain;
pub mod finding;
mod kernel;
pub mod machine;
mod market;
pub mod measurement;
mod memory;
mod money_path;
pub mod postgres;
pub mod report;
mod routes;
mod row_lock;
pub mod shop;
mod siege;
pub mod till;
mod utility;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use local_postgres::{Durability, LocalPostgres};
use sandbox::parts;
use tokio::runtime::{Builder, Runtime};

use crate::arguments::{Command, Part, Plan};
use crate::machine::Machine;
use crate::report::Report;

/// Why there is no result.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Runs the program.
///
/// # Errors
/// Why there is no result.
pub fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(played) = part_of_a_sandbox() {
        return played.map(|()| ExitCode::SUCCESS);
    }
    let is_reached = run().map_err(|failure| -> Box<dyn Error> { failure })?;
    Ok(if is_reached { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// This executable also runs as the processes that it measures.
fn part_of_a_sandbox() -> Option<Result<(), Box<dyn Error>>> {
    let mut arguments = std::env::args().skip(1).peekable();
    if let Some((_part, outcome)) = parts::run(&mut arguments) {
        return Some(outcome);
    }
    arguments.next_if(|argument| argument == bare_route::PART).map(|_part| bare_route::serve())
}

/// Returns whether all goals were reached.
fn run() -> Result<bool, Failure> {
    let command = Command::parse(std::env::args().skip(1))?;
    kernel::open_many_files()?;
    let engine = Builder::new_multi_thread().enable_all().build()?;
    match command {
        Command::Bench(plan) => measured(&engine, &plan),
        Command::Siege { length } => besieged(&engine, length),
    }
}

fn measured(engine: &Runtime, plan: &Plan) -> Result<bool, Failure> {
    let effort = plan.effort;
    println!("Starting a Postgres that syncs every commit to disk.");
    let postgres = LocalPostgres::start(Durability::Durable)?;
    let mut report = Report::begin(&engine.block_on(Machine::calibrate(&postgres))?, effort);
    if plan.has(Part::OneWallet) {
        report.add(engine.block_on(money_path::one_wallet(&postgres, effort))?);
    }
    if plan.has(Part::ManyWallets) {
        report.add(engine.block_on(money_path::many_wallets(&postgres, effort))?);
    }
    // Each of the others starts a Postgres of its own, and this one would still tidy its tables beside it.
    drop(postgres);
    if plan.has(Part::Confirms) {
        report.add(confirms::measure(engine, effort)?);
    }
    if plan.has(Part::Routes) {
        report.add(routes::measure(engine, effort)?);
    }
    if plan.has(Part::Drain) {
        report.add(drain::measure(engine)?);
    }
    if plan.has(Part::Memory) {
        report.add(memory::measure(engine, effort)?);
    }
    if plan.writes {
        document::write("bench", &report.to_string())?;
    }
    Ok(report.is_reached())
}

/// Runs the floods of unauthenticated requests.
fn besieged(engine: &Runtime, length: Duration) -> Result<bool, Failure> {
    println!("Flooding a server: about {} seconds.", length.as_secs().saturating_mul(6).saturating_add(60));
    let findings = siege::run(engine, length)?;
    println!("\n{findings}");
    Ok(findings.is_held())
}
