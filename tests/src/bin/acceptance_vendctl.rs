//! The operator's command line as the journeys call it.

fn main() -> std::process::ExitCode {
    vendctl::main(std::env::args_os())
}
