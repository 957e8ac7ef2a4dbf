//! The exit code of a program, and the one line that it prints when it fails.

use std::{error::Error, process::ExitCode};

/// The exit code for an outcome. An error is printed on standard error with all its causes, in one line that begins
/// with the program's name.
#[expect(clippy::print_stderr, reason = "the caller of the program reads it there")]
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
    let mut texts: Vec<String> = causes.map(ToString::to_string).collect();
    // Some libraries repeat the text of their cause.
    texts.dedup();
    texts.join(": ")
}
