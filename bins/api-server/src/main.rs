//! `api-server [migrate] [settings.toml]`

fn main() -> std::process::ExitCode {
    boot::exit_code("api-server", api_server::main(std::env::args().skip(1)))
}
