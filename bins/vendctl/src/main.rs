//! `vendctl <noun> <verb> …`: see `vendctl --help`.

fn main() -> std::process::ExitCode {
    vendctl::main(std::env::args_os())
}
