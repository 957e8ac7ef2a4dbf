//! The servers as parts of a sandbox: they end when whoever started them does, even by `kill -9`.

use std::{error::Error, io, process, thread};

/// The name under which the sandbox's own executable is the API server.
pub const API_SERVER: &str = "api-server";
/// The name under which the sandbox's own executable is the worker.
pub const RETRY_WORKER: &str = "retry-worker";
/// The name under which the sandbox's own executable is the simulated utility.
pub const UTILITY_SIM: &str = "utility-sim";

/// Runs the API server until it is told to stop, or until standard input ends.
///
/// # Errors
/// Whatever kept it from serving.
pub fn api_server(arguments: impl IntoIterator<Item = String>) -> Result<(), Box<dyn Error>> {
    end_with_standard_input();
    api_server::main(arguments)
}

/// Runs the worker until it is told to stop, or until standard input ends.
///
/// # Errors
/// Whatever kept it from working.
pub fn retry_worker(arguments: impl IntoIterator<Item = String>) -> Result<(), Box<dyn Error>> {
    end_with_standard_input();
    retry_worker::main(arguments)
}

/// Runs the simulated utility until it is told to stop, or until standard input ends.
///
/// # Errors
/// Whatever kept it from serving.
pub fn utility_sim(arguments: impl IntoIterator<Item = String>) -> Result<(), Box<dyn Error>> {
    end_with_standard_input();
    utility_sim_server::main(arguments)
}

/// The owner holds the other end of a pipe, and the system closes it however the owner ends. With the owner goes
/// the database, so nothing is left to be brought to a good end.
fn end_with_standard_input() {
    thread::spawn(|| {
        let _closed_or_broken = io::copy(&mut io::stdin(), &mut io::sink());
        process::exit(1);
    });
}
