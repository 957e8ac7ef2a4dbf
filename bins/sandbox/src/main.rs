//! `cargo sandbox [--port N] [--once]`

mod arguments;
mod command;

use std::process::ExitCode;

use sandbox::parts;

fn main() -> ExitCode {
    let part = parts::run(&mut std::env::args().skip(1).peekable());
    let (program, outcome) = part.unwrap_or_else(|| ("sandbox", command::run(&arguments::read())));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => command::complain(program, error.as_ref()),
    }
}
