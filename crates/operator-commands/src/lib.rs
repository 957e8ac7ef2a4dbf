//! The operator's command line. It manages organisations, wallets, the catalogue and purchases, and shows the audit
//! log.
//!
//! A command is a noun and a verb. Its arguments are parsed before the database is used. A command makes one change, in
//! one transaction with its line in the audit log, and prints the result.

mod account;
mod allow_list;
mod approvals;
mod archive;
mod arguments;
mod care;
mod client;
mod commands;
mod console;
mod default_provider;
mod discrepancies;
mod incidents;
mod offer;
mod organisation;
mod outbox;
mod payout;
mod privacy;
mod product;
mod provider;
mod purchases;
mod reconcile;
mod recover;
mod rights;
mod role;
mod secret;
mod user;
mod wallet;

use std::{
    ffi::OsString,
    io::{self, Write},
    iter,
    process::ExitCode,
};

use clap::{ArgMatches, FromArgMatches};
use tokio::runtime::{Builder, Runtime};

// What all commands share has the same paths here as in its crate.
use operator_reports::{
    audit, error, found, moment, operators, outside, parse, reconciliations, refusals, report, requests,
    said, sales, session, settings, statement, still_open, wallet_statement, webhooks, words,
};

use arguments::{Arguments, Command, DatabaseCommand};
use care::Rehearsal;
use error::VendctlError;
use report::Outcome;
use session::Session;

pub use commands::{CommandSettings, Commands, Refusal};
pub use operator_reports::report::{Part, Report};

/// The exit code of a command that has made a request in place of the act. A script must not take it for the act.
const WAITS: u8 = 3;
/// The exit code of a reconciliation that has found what a person must decide, and of a statement that is not final.
const DIFFERS: u8 = 4;

/// The whole program. Exit code 0: done. 1: refused or failed. 2: the arguments are not a valid command. 3: nothing was done yet, because
/// another person must approve it. 4: a statement was reconciled, and differs from the books, or one was fetched, and has orders that are still open.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // If the arguments are not valid, the parser prints an explanation and ends the process.
    let matches = arguments::command().get_matches_from(arguments);
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let outcome = run(&arguments, &matches).and_then(|(text, code)| print(&text).map(|()| code));
    match outcome {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// The name of the command that was typed, without aliases: `wallet top-up`.
fn name(matches: &ArgMatches) -> String {
    let nouns = iter::successors(matches.subcommand(), |(_, further)| further.subcommand());
    nouns.map(|(noun, _)| noun).collect::<Vec<_>>().join(" ")
}

/// Whether the command that was typed is only rehearsed.
fn rehearsal(matches: &ArgMatches) -> Rehearsal {
    let words = iter::successors(Some(matches), |words| words.subcommand().map(|(_, further)| further));
    words.last().map_or(Rehearsal::No, Rehearsal::of)
}

fn run(arguments: &Arguments, matches: &ArgMatches) -> Result<(String, ExitCode), VendctlError> {
    let command = match &arguments.command {
        Command::Completions { shell } => return Ok((arguments::completions(*shell), ExitCode::SUCCESS)),
        Command::ManPages { directory } => {
            return Ok((arguments::write_man_pages(directory)?, ExitCode::SUCCESS));
        }
        Command::FetchStatement(fetch) => {
            let report = threads()?.block_on(fetch.run(arguments.settings.as_deref()))?;
            return Ok(shown(arguments, &report));
        }
        Command::Database(command) => command,
    };
    if let DatabaseCommand::Archive { verb } = command
        && let Some(report) = archive::run_offline(verb)
    {
        return Ok(shown(arguments, &report?));
    }
    if let DatabaseCommand::Audit { verb: audit::Verb::List { .. } } = command
        && arguments.on_behalf_of.is_some()
    {
        return Err(VendctlError::AuditByLogin);
    }
    let settings = settings::Settings::load(arguments.settings.as_deref())?;
    let runtime = threads()?;
    let report = runtime.block_on(async {
        let engine = runtime.handle().clone();
        let (operator, sealing) = (&settings.operator, settings.sealing.as_ref());
        let session = Session::open(operator, sealing, arguments.on_behalf_of.clone(), engine).await?;
        carry_out(&session, command, matches).await
    })?;
    Ok(shown(arguments, &report))
}

fn threads() -> Result<Runtime, VendctlError> {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(VendctlError::Threads)
}

fn shown(arguments: &Arguments, report: &Report) -> (String, ExitCode) {
    let code = match report.outcome() {
        Outcome::Done => ExitCode::SUCCESS,
        Outcome::Waits => ExitCode::from(WAITS),
        Outcome::Differs => ExitCode::from(DIFFERS),
    };
    (if arguments.json { report.json() } else { report.text() }, code)
}

/// The database refuses an act that the person's roles do not allow. It does not see a rehearsal, which is refused here.
async fn carry_out(
    session: &Session,
    command: &DatabaseCommand,
    matches: &ArgMatches,
) -> Result<Report, VendctlError> {
    let name = name(matches);
    let rehearsal = rehearsal(matches);
    if rehearsal != Rehearsal::No {
        rights::check(&name, &session.operator)?;
    }
    let report = if rehearsal == Rehearsal::Undone {
        let report = execute(&session.rehearsal().await?, command).await;
        report.map(|report| report.noting("This was a rehearsal. Nothing of it was kept."))
    } else {
        execute(session, command).await
    };
    let report = report.map_err(|error| rights::explained(error, &session.operator, &name))?;
    Ok(report.in_zone(session.zone()))
}

async fn execute(session: &Session, command: &DatabaseCommand) -> Result<Report, VendctlError> {
    match command {
        DatabaseCommand::Organisation { verb } => organisation::run(session, verb).await,
        DatabaseCommand::Client { verb } => client::run(session, verb).await,
        DatabaseCommand::Secret { verb } => secret::run(session, verb).await,
        DatabaseCommand::User { verb } => user::run(session, verb).await,
        DatabaseCommand::Role { verb } => Ok(role::run(*verb)),
        DatabaseCommand::Account { verb } => account::run(session, verb).await,
        DatabaseCommand::Wallet { verb } => wallet::run(session, verb).await,
        DatabaseCommand::Fees { verb } => payout::fees(session, verb).await,
        DatabaseCommand::Commission { verb } => payout::commission(session, verb).await,
        DatabaseCommand::Product { verb } => product::run(session, verb).await,
        DatabaseCommand::Provider { verb } => provider::run(session, verb).await,
        DatabaseCommand::Offer { verb } => offer::run(session, verb).await,
        DatabaseCommand::DefaultProvider { verb } => default_provider::run(session, verb).await,
        DatabaseCommand::AllowList { verb } => allow_list::run(session, verb).await,
        DatabaseCommand::Purchases { verb } => purchases::run(session, verb).await,
        DatabaseCommand::Operators { verb } => operators::run(session, verb).await,
        DatabaseCommand::Refusals { verb } => refusals::run(session, verb).await,
        DatabaseCommand::Report { verb } => sales::run(session, verb).await,
        DatabaseCommand::Incidents { verb } => incidents::run(session, verb).await,
        DatabaseCommand::Reconcile(reconcile) => reconcile.run(session).await,
        DatabaseCommand::Reconciliations { verb } => reconciliations::run(session, verb).await,
        DatabaseCommand::Discrepancies { verb } => discrepancies::run(session, verb).await,
        DatabaseCommand::Recover { verb } => recover::run(session, verb).await,
        DatabaseCommand::Outbox { verb } => outbox::run(session, verb).await,
        DatabaseCommand::Webhooks { verb } => webhooks::run(session, verb).await,
        DatabaseCommand::Privacy { verb } => privacy::run(session, verb).await,
        DatabaseCommand::Archive { verb } => archive::run(session, verb).await,
        DatabaseCommand::Approvals { verb } => approvals::run(session, verb).await,
        DatabaseCommand::Console { verb } => console::run(session, verb).await,
        DatabaseCommand::Audit { verb } => audit::run(session, verb).await,
    }
}

/// A reader that closes the pipe early is not a failure.
fn print(text: &str) -> Result<(), VendctlError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome.map_err(VendctlError::Unprinted),
    }
}

#[expect(clippy::print_stderr, reason = "the operator reads the error there")]
fn complain(error: &VendctlError) {
    eprintln!("vendctl: {}", error.line());
}
