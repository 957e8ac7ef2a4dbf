//! The servers as parts of a sandbox: they end when the parent process ends, even by `kill -9`.

use std::{error::Error, io, iter::Peekable, process, thread};

/// How a part ended: the error is what prevented its work.
pub type Outcome = Result<(), Box<dyn Error>>;

/// The first argument that makes this executable the API server.
pub const API_SERVER: &str = "api-server";
/// The first argument that makes this executable the worker.
pub const RETRY_WORKER: &str = "retry-worker";
/// The first argument that makes this executable the simulated utility.
pub const UTILITY_SIM: &str = "utility-sim";

/// The first argument that makes this executable the console.
pub const CONSOLE: &str = "console";

/// Runs the part that the first argument names, if it names one. Returns the name of the part, and how it ended.
pub fn run(arguments: &mut Peekable<impl Iterator<Item = String>>) -> Option<(&'static str, Outcome)> {
    let part = [API_SERVER, RETRY_WORKER, UTILITY_SIM, CONSOLE].into_iter().find(|part| {
        let is_named = arguments.peek().is_some_and(|argument| argument == part);
        is_named && arguments.next().is_some()
    })?;
    let outcome = match part {
        API_SERVER => api_server(arguments),
        RETRY_WORKER => retry_worker(arguments),
        CONSOLE => console(arguments),
        _ => utility_sim(arguments),
    };
    Some((part, outcome))
}

/// Runs the API server until it is asked to stop, or until standard input ends.
///
/// # Errors
/// What prevented serving.
pub fn api_server(arguments: impl IntoIterator<Item = String>) -> Outcome {
    end_with_standard_input();
    api_server::main(arguments)
}

/// Runs the worker until it is asked to stop, or until standard input ends.
///
/// # Errors
/// What prevented the work.
pub fn retry_worker(arguments: impl IntoIterator<Item = String>) -> Outcome {
    end_with_standard_input();
    retry_worker::main(arguments)
}

/// Runs the simulated utility until it is asked to stop, or until standard input ends.
///
/// # Errors
/// What prevented serving.
pub fn utility_sim(arguments: impl IntoIterator<Item = String>) -> Outcome {
    end_with_standard_input();
    utility_sim_server::main(arguments)
}

/// Runs the operators' console until it is asked to stop, or until standard input ends.
///
/// # Errors
/// What prevented serving.
pub fn console(arguments: impl IntoIterator<Item = String>) -> Outcome {
    end_with_standard_input();
    console::main(arguments)
}

/// Ends this process when its standard input ends. The parent process holds the other end of the pipe, which the system
/// closes however the parent ends. The database ends with the parent, so no work can be finished.
pub fn end_with_standard_input() {
    thread::spawn(|| {
        let _closed_or_broken = io::copy(&mut io::stdin(), &mut io::sink());
        process::exit(1);
    });
}
