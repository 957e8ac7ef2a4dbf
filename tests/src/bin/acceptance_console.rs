//! The console as the acceptance tests start it.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    sandbox::parts::end_with_standard_input();
    console::main(std::env::args().skip(1))
}
