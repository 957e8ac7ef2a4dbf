//! The API server as the acceptance tests start it.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    acceptance::fault_injection::armed_by_the_environment()?;
    acceptance::transcripts::kept_as_the_environment_says()?;
    sandbox::parts::api_server(std::env::args().skip(1))
}
