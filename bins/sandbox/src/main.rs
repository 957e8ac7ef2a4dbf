//! `cargo sandbox [--port N] [--once]`

mod arguments;
mod command;

use std::process::ExitCode;

use sandbox::parts;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let (program, outcome) = if arguments.next_if(|argument| argument == parts::API_SERVER).is_some() {
        (parts::API_SERVER, parts::api_server(arguments))
    } else if arguments.next_if(|argument| argument == parts::RETRY_WORKER).is_some() {
        (parts::RETRY_WORKER, parts::retry_worker(arguments))
    } else if arguments.next_if(|argument| argument == parts::UTILITY_SIM).is_some() {
        (parts::UTILITY_SIM, parts::utility_sim(arguments))
    } else {
        ("sandbox", command::run(&arguments::read()))
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => command::complain(program, error.as_ref()),
    }
}
