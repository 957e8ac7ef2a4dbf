//! `retry-worker [settings.toml]`

fn main() -> Result<(), Box<dyn std::error::Error>> {
    retry_worker::main(std::env::args().skip(1))
}
