//! `retry-worker [settings.toml]`

fn main() -> std::process::ExitCode {
    boot::exit_code("retry-worker", retry_worker::main(std::env::args().skip(1)))
}
