//! What a person types behind `cargo sandbox`.

use std::path::PathBuf;

use clap::Parser;

/// Brings the whole system up on loopback, buys electricity with it, and serves until Ctrl-C.
#[derive(Debug, Parser)]
#[command(name = "cargo sandbox", bin_name = "cargo sandbox")]
pub(crate) struct Arguments {
    /// Where the API listens on 127.0.0.1; 0 takes a free port
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub(crate) port: u16,
    /// End after the tour; the exit code tells whether everything went as it should
    #[arg(long)]
    pub(crate) once: bool,
    /// Where sandbox.json, the servers' settings and their logs are written [default: target/sandbox]
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// Reads them, or explains them and ends.
pub(crate) fn read() -> Arguments {
    Arguments::parse()
}
