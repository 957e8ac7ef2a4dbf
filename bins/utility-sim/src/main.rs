//! `utility-sim-server [settings.toml]`

fn main() -> Result<(), Box<dyn std::error::Error>> {
    utility_sim_server::main(std::env::args().skip(1))
}
