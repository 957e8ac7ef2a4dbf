//! The operator's command line as the acceptance tests call it.

fn main() -> std::process::ExitCode {
    operator_commands::main(std::env::args_os())
}
