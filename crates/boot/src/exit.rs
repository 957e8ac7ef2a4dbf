//! The end of a program: nothing to say, or one line.

use std::{error::Error, process::ExitCode};

/// What a program ends with. What kept it from its work is told on standard error, with all its causes, in one line
/// that begins with the program's name.
#[expect(clippy::print_stderr, reason = "whoever started the program reads it there")]
pub fn exit_code(program: &str, outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {}", in_words(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

/// An error with everything that caused it, on one line.
pub(crate) fn in_words(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let mut said: Vec<String> = causes.map(ToString::to_string).collect();
    // Some libraries repeat their cause's words.
    said.dedup();
    said.join(": ")
}
