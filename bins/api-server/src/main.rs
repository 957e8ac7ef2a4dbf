//! `api-server [migrate] [settings.toml]`

fn main() -> Result<(), Box<dyn std::error::Error>> {
    api_server::main(std::env::args().skip(1))
}
