//! Benchmarks of the money path on this machine: reserve and settle through the store compared with the same
//! statements one at a time, whole confirms over HTTP, and purchases in doubt that workers resolve.
//!
//! `just bench`, or `just bench --seconds 10` for longer measurements. `just siege` measures how floods of anonymous
//! requests affect other clients. The exit status is not zero when a target is missed.

#![expect(clippy::print_stdout, reason = "it prints its results for the operator")]

mod callers;
mod client;
mod confirms;
mod drain;
mod kernel;
mod market;
mod measurement;
mod money_path;
mod report;
mod siege;
mod till;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use local_postgres::{Durability, LocalPostgres};
use sandbox::parts;
use tokio::runtime::{Builder, Runtime};

use crate::report::Comparison;

/// The length of one measurement unless `--seconds` is given.
const SECONDS: u64 = 5;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(played) = part_of_a_sandbox() {
        return played.map(|()| ExitCode::SUCCESS);
    }
    let mut arguments = std::env::args().skip(1).peekable();
    let is_siege = arguments.next_if(|argument| argument == "siege").is_some();
    let length = Duration::from_secs(seconds(arguments)?);
    if is_siege {
        return besieged(length);
    }
    println!("Starting a Postgres that syncs every commit to disk.");
    let postgres = LocalPostgres::start(Durability::Durable)?;
    let engine = Builder::new_multi_thread().enable_all().build()?;

    let one_wallet = engine.block_on(money_path::one_wallet(&postgres, length))?;
    let many_wallets = engine.block_on(money_path::many_wallets(&postgres, length))?;
    drop(postgres);
    let confirms = whole_confirms(&engine, &one_wallet, length)?;

    let drain = drain::measure(&engine)?;
    println!("\n{drain}");

    let all_reached =
        [one_wallet, many_wallets, confirms].iter().all(Comparison::is_reached) && drain.is_reached();
    Ok(if all_reached { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the floods of unauthenticated requests.
fn besieged(length: Duration) -> Result<ExitCode, Box<dyn Error>> {
    println!("Flooding a server: about {} seconds.", length.as_secs().saturating_mul(6).saturating_add(60));
    let engine = Builder::new_multi_thread().enable_all().build()?;
    let findings = siege::run(&engine, length)?;
    println!("\n{findings}");
    Ok(if findings.is_held() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The baseline is the store alone on one wallet without lanes. A whole confirm does more than the money path.
fn whole_confirms(
    engine: &Runtime,
    one_wallet: &Comparison,
    length: Duration,
) -> Result<Comparison, Box<dyn Error>> {
    let confirms = confirms::one_wallet(engine, length)?;
    let comparison = Comparison {
        title: "(c) whole confirms over HTTP, one wallet, 64 clients that keep their connections",
        measured_is: "server, simulator, database and clients here",
        measured: confirms.measured,
        baseline: one_wallet.baseline.clone(),
        at_least: 2,
    };
    println!("\n{comparison}\n  the server's memory was {} KiB at its peak", confirms.server_peak_kib);
    Ok(comparison)
}

/// This executable also runs as the server and the simulator that it measures.
fn part_of_a_sandbox() -> Option<Result<(), Box<dyn Error>>> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next()?.as_str() {
        parts::API_SERVER => Some(parts::api_server(arguments)),
        parts::RETRY_WORKER => Some(parts::retry_worker(arguments)),
        parts::UTILITY_SIM => Some(parts::utility_sim(arguments)),
        _ => None,
    }
}

/// The number after `--seconds`.
fn seconds(mut arguments: impl Iterator<Item = String>) -> Result<u64, Box<dyn Error>> {
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => Ok(SECONDS),
        (Some("--seconds"), Some(number)) => Ok(number.parse()?),
        (Some(other), _) => Err(format!("unknown argument {other}: only --seconds N is known").into()),
    }
}
