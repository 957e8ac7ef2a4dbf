//! `vendctl <noun> <verb> …`: see `vendctl --help`.

fn main() -> std::process::ExitCode {
    operator_commands::main(std::env::args_os())
}
