//! The cost of one request, counted and not timed, so that it is the same on every machine.
//!
//! A server runs in this process, and a relay reads its conversation with its database. One client sends one request at a
//! time, so each group of the money path has one job. docs/costs.table has the costs that are accepted: a change that adds a
//! statement, a row, an index or an allocation to a request changes it.

#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

mod client;
mod conversation;
mod cost;
mod server;
mod table;

use std::{alloc::System, fs, path::Path};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use crate::{server::CountedServer, table::Table};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A busy machine wakes the tasks of a request in another order, and then it allocates a little more. So the least costs of
/// several attempts count.
const ATTEMPTS: usize = 10;

#[test]
fn a_request_costs_what_the_table_of_costs_says() {
    let server = CountedServer::start();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/costs.table");
    let accepted = Table::parse(&fs::read_to_string(file).unwrap());
    let mut measured = Table::measure(&server);
    for attempt in 1..ATTEMPTS {
        if !measured.differences_from(&accepted).is_empty() {
            measured = measured.measure_again(&server, attempt, &accepted);
        }
    }
    let differences = measured.differences_from(&accepted);
    // The server's report of panics takes the message of a failed assertion into its own log.
    for difference in &differences {
        println!("{difference}");
    }
    println!("If such changes are meant, this is the new docs/costs.table:\n{measured}");
    assert!(differences.is_empty());
}
