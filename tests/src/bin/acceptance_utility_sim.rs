//! The simulated utility as the acceptance tests start it.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    sandbox::parts::utility_sim(std::env::args().skip(1))
}
