//! The operator's command line: lets organisations in, keeps their wallets and the catalogue, looks after purchases,
//! and says who did what.
//!
//! A command is a noun and a verb. Its arguments are read before anything is asked of the database; it then does one
//! thing, in one transaction with its line in the audit log, and prints what came of it.

mod account;
mod allow_list;
mod arguments;
mod audit;
mod client;
mod default_provider;
mod desk;
mod error;
mod incidents;
mod offer;
mod organisation;
mod outbox;
mod parse;
mod product;
mod provider;
mod purchases;
mod refusals;
mod report;
mod role;
mod secret;
mod settings;
mod user;
mod wallet;
mod words;

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;
use tokio::runtime::Builder;

use arguments::{Arguments, Command, Errand};
use desk::Desk;
use error::VendctlError;
use report::Report;

/// The whole program. It ends with 0 when the thing is done, 1 when it was refused or failed, 2 when the arguments
/// make no command.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // What is no command is explained by the parser, which ends the process.
    let arguments = Arguments::parse_from(arguments);
    let outcome = run(&arguments).and_then(|text| print(&text));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<String, VendctlError> {
    let errand = match &arguments.command {
        Command::Completions { shell } => return Ok(arguments::completions(*shell)),
        Command::Errand(errand) => errand,
    };
    let settings = settings::Settings::load(arguments.settings.as_deref())?;
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(VendctlError::Threads)?;
    let report = runtime.block_on(async {
        let engine = runtime.handle().clone();
        let (operator, sealing) = (&settings.operator, settings.sealing.as_ref());
        let desk = Desk::open(operator, sealing, arguments.actor.clone(), engine).await?;
        do_errand(&desk, errand).await
    })?;
    Ok(if arguments.json { report.json() } else { report.text() })
}

async fn do_errand(desk: &Desk, errand: &Errand) -> Result<Report, VendctlError> {
    match errand {
        Errand::Organisation { verb } => organisation::run(desk, verb).await,
        Errand::Client { verb } => client::run(desk, verb).await,
        Errand::Secret { verb } => secret::run(desk, verb).await,
        Errand::User { verb } => user::run(desk, verb).await,
        Errand::Role { verb } => Ok(role::run(*verb)),
        Errand::Account { verb } => account::run(desk, verb).await,
        Errand::Wallet { verb } => wallet::run(desk, verb).await,
        Errand::Product { verb } => product::run(desk, verb).await,
        Errand::Provider { verb } => provider::run(desk, verb).await,
        Errand::Offer { verb } => offer::run(desk, verb).await,
        Errand::DefaultProvider { verb } => default_provider::run(desk, verb).await,
        Errand::AllowList { verb } => allow_list::run(desk, verb).await,
        Errand::Purchases { verb } => purchases::run(desk, verb).await,
        Errand::Refusals { verb } => refusals::run(desk, verb).await,
        Errand::Incidents { verb } => incidents::run(desk, verb).await,
        Errand::Outbox { verb } => outbox::run(desk, verb).await,
        Errand::Audit { verb } => audit::run(desk, verb).await,
    }
}

/// A reader that has seen enough and closed the pipe is no failure.
fn print(text: &str) -> Result<(), VendctlError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome.map_err(VendctlError::Unprinted),
    }
}

#[expect(clippy::print_stderr, reason = "whoever typed the command reads it there")]
fn complain(error: &VendctlError) {
    eprintln!("vendctl: {}", error.line());
}
