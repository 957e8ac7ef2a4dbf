//! The arguments of `cargo sandbox`.

use std::path::PathBuf;

use clap::Parser;

/// Starts the whole system on loopback, buys electricity with it, and serves until Ctrl-C.
#[derive(Debug, Parser)]
#[command(name = "cargo sandbox", bin_name = "cargo sandbox")]
pub(crate) struct Arguments {
    /// The port of the API on 127.0.0.1; 0 takes a free port
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub(crate) port: u16,
    /// Exit after the tour; the exit code is 0 if everything worked
    #[arg(long)]
    pub(crate) once: bool,
    /// The organisations and the API are of PRODUCTION, as if their money were real: for the practice of reports and payouts
    #[arg(long)]
    pub(crate) production: bool,
    /// The directory for sandbox.json, the servers' settings and their logs [default: target/sandbox]
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// Parses the arguments. Prints help or an error and exits if they ask for it or are wrong.
pub(crate) fn read() -> Arguments {
    Arguments::parse()
}
