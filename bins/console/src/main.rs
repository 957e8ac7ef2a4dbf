//! `console [--check-settings] [settings.toml]`

fn main() -> std::process::ExitCode {
    boot::exit_code("console", console::main(std::env::args().skip(1)))
}
