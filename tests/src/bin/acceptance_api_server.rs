//! The API server as the journeys start it.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    sandbox::parts::api_server(std::env::args().skip(1))
}
