//! Measures how the service works with a long history, each result beside the same with a short one in the same run.
//!
//! `just growth` fabricates ten million purchases of a year, and `just growth --purchases 200000` fewer. The checks look at
//! every row, which takes over an hour for ten million; `--looks 1000` lets them look at two million rows of each kind. The
//! exit status is not zero when a goal is missed. `--write` writes the results into docs/PERFORMANCE.md.

#![expect(clippy::print_stdout, reason = "it prints its results for the operator")]

mod arguments;
mod chance;
mod fabrication;
mod history;
mod lists;
mod proof;
mod reports;
mod sales;
mod side;
mod space;
mod upkeep;

use std::{error::Error, process::ExitCode};

use bench::{Failure, document, machine::Machine, report::Report};
use sandbox::parts;
use tokio::runtime::Builder;

use crate::{arguments::Arguments, side::Side};

/// The purchases of the short history. A far page needs some.
const SHORT: u64 = 10_000;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some((_part, outcome)) = parts::run(&mut std::env::args().skip(1).peekable()) {
        return outcome.map(|()| ExitCode::SUCCESS);
    }
    let is_reached = run().map_err(|failure| -> Box<dyn Error> { failure })?;
    Ok(if is_reached { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns whether all goals were reached.
fn run() -> Result<bool, Failure> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let engine = Builder::new_multi_thread().enable_all().build()?;
    let short = Side::open(&engine, "short", SHORT, None)?;
    let long = Side::open(&engine, "long", arguments.purchases, arguments.looks)?;
    let machine = engine.block_on(Machine::calibrate(long.postgres()?))?;
    let histories = format!("* the long history: {}\n* the short history: {}", long.summary, short.summary);
    let mut report = Report::begin(&format!("{machine}\n{histories}"), arguments.effort);
    engine.block_on(async {
        report.add(lists::measure(&short, &long).await?);
        report.add(reports::measure(&short, &long).await?);
        report.add(sales::measure(&short, &long, arguments.effort).await?);
        report.add(upkeep::measure(&short, &long, arguments.effort.rounds).await?);
        Ok::<_, Failure>(())
    })?;
    if arguments.writes {
        document::write("growth", &report.to_string())?;
    }
    short.close()?;
    long.close()?;
    Ok(report.is_reached())
}
