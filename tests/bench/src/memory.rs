//! The memory of a server, and the time that it needs to start.

use std::{iter, time::Duration};

use clock::{Clock, SystemClock};
use sandbox::{Listener, Merchant, Pace, Process};
use tokio::runtime::Runtime;

use crate::{
    Failure,
    arguments::Effort,
    client::{Client, address_of, request},
    crowd::Crowd,
    finding::{Finding, Goal, Sample, Unit},
    kernel,
    shop::{Shop, open_merchant},
    till::{BOUGHT, ME, Till},
};

/// The number of clients that buy, each for a meter of its own.
const BUYERS: u32 = 64;
/// The number of connections that are only kept.
const CONNECTIONS: usize = 1_000;
const MEGABYTE: u128 = 1_000_000;
const READY_WITHIN: Duration = Duration::from_millis(300);
const LOOK_EVERY: Duration = Duration::from_millis(2);
const PATIENCE: Duration = Duration::from_secs(30);

/// What one server needed. Memory is in bytes.
struct Needs {
    start: Duration,
    at_rest: u64,
    peak: u64,
    with_connections: u64,
}

/// Starts a server in each round, lets clients buy from it, and then keeps many connections to it.
pub fn measure(engine: &Runtime, effort: Effort) -> Result<Vec<Finding>, Failure> {
    let shop = Shop::open("memory", Pace::Production, BUYERS)?;
    let rounds = engine.block_on(rounds(&shop, effort))?;
    shop.close()?;
    let bytes = |of: fn(&Needs) -> u64| Sample::of(rounds.iter().map(of).map(u128::from));
    let memory = |what: &str, of: fn(&Needs) -> u64, megabytes: u128| {
        let most = Goal::Maximum(megabytes.saturating_mul(MEGABYTE));
        Finding::new(what, Unit::Memory, bytes(of)).must(most)
    };
    let start = Sample::of_times(rounds.iter().map(|needs| needs.start));
    Ok(vec![
        memory("memory of a server at rest", |needs| needs.at_rest, 20),
        memory("memory of a server, peak while 64 clients buy", |needs| needs.peak, 40),
        memory("memory of a server with 1,000 idle connections", |needs| needs.with_connections, 80),
        Finding::new("start of a server until it is ready", Unit::Time, start)
            .must(Goal::Maximum(READY_WITHIN.as_micros())),
    ])
}

async fn rounds(shop: &Shop, effort: Effort) -> Result<Vec<Needs>, Failure> {
    let merchant = open_merchant(&shop.sandbox, "BENCH").await?;
    let mut rounds = Vec::new();
    for _ in 0..effort.rounds {
        let began = SystemClock.monotonic();
        let server = shop.server("measured")?;
        until_ready(&server).await?;
        let start = SystemClock.monotonic().elapsed_since(began);
        rounds.push(needs(&server, start, &merchant, effort).await?);
    }
    Ok(rounds)
}

async fn needs(
    server: &Process,
    start: Duration,
    merchant: &Merchant,
    effort: Effort,
) -> Result<Needs, Failure> {
    let address = address_of(server.url());
    let at_rest = kernel::memory(server.id())?;
    let till = Till::log_in(address, merchant).await?;
    let orders = utility_sim::population(BUYERS).map(|meter| till.confirm(&meter));
    let mut buyers = Crowd::connect(address, orders, BOUGHT).await?;
    buyers.send_for(effort.length).await?;
    let peak = kernel::peak_memory(server.id())?;
    drop(buyers);
    let me = iter::repeat_n(till.read(ME), CONNECTIONS);
    let mut idle = Crowd::connect(address, me, "").await?;
    idle.send_for(Duration::ZERO).await?;
    let with_connections = kernel::memory(server.id())?;
    Ok(Needs { start, at_rest, peak, with_connections })
}

/// Waits until the server says that it is ready.
async fn until_ready(server: &Process) -> Result<(), Failure> {
    let address = address_of(server.address(Listener::Observe));
    let ready = request("GET /readyz", address, "", "");
    let began = SystemClock.monotonic();
    while SystemClock.monotonic().elapsed_since(began) < PATIENCE {
        if Client::connect(address).await?.exchange(&ready).await?.status == 200 {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Err(format!("the server was not ready after {PATIENCE:?}").into())
}
