//! `utility-sim-server [settings.toml]`

fn main() -> std::process::ExitCode {
    boot::exit_code("utility-sim-server", utility_sim_server::main(std::env::args().skip(1)))
}
