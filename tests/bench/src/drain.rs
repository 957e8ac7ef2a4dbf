//! How fast workers resolve doubt: thousands of purchases whose answers were lost, at a utility that answers at once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clock::{Clock, SystemClock};
use sandbox::{Pace, Process, Sandbox};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::{
    Failure,
    client::{Client, address_of},
    finding::{Finding, Goal, Sample, Unit},
    kernel::{computing_time, memory},
    shop::{Shop, open_merchant},
    till::Till,
};

const PURCHASES: usize = 20_000;
/// Each organisation may have one open purchase per meter, and this many meters are on its allow-list.
const METERS: u32 = 800;
const ORGANISATIONS: u32 = 25;
const BUYERS: u32 = 64;
/// How long an idle worker is measured: two looks of the standing checks, which are due every 30 s, are always in it.
const WATCHED: Duration = Duration::from_mins(1);
/// In thousandths of one processor.
const IDLE_SHARE_AT_MOST: u128 = 10;
/// In bytes.
const IDLE_MEMORY_AT_MOST: u128 = 40_000_000;
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The condition of the index over open purchases.
const OPEN: &str = "purchases WHERE state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')";
/// Two workers have 64 slots each, as one has by its settings.
const ENOUGH_SLOTS: &str = "UPDATE providers SET worker_slots = 128";
const UNSENT: &str = "outbox WHERE sent_at IS NULL AND given_up_at IS NULL";
const PATIENCE: Duration = Duration::from_mins(5);

/// What the workers achieved, and the cost of one idle worker.
struct Drain {
    one: Duration,
    two: Duration,
    idle_share: u128,
    idle_memory: u64,
}

/// One worker resolves `PURCHASES` purchases in doubt. Then two workers resolve as many, in a database of their own.
pub fn measure(engine: &Runtime) -> Result<Vec<Finding>, Failure> {
    let (one, idle_share, idle_memory) = in_doubt(engine, "one-worker", one_worker)?;
    let two = in_doubt(engine, "two-workers", two_workers)?;
    Ok(Drain { one, two, idle_share, idle_memory }.findings())
}

/// What `work` measures in a new system with `PURCHASES` purchases in doubt.
fn in_doubt<T>(
    engine: &Runtime,
    name: &str,
    work: impl AsyncFnOnce(&Shop) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let shop = Shop::open(name, Pace::Real, METERS)?;
    shop.sandbox.database().run_sql(ENOUGH_SLOTS)?;
    let server = shop.server("unlimited")?;
    let measured = engine.block_on(async {
        lose_the_answers(&shop.sandbox, address_of(server.url())).await?;
        work(&shop).await
    })?;
    drop(server);
    shop.close()?;
    Ok(measured)
}

/// The time of one worker, and its share of a processor and its memory afterwards.
async fn one_worker(shop: &Shop) -> Result<(Duration, u128, u64), Failure> {
    let (took, worker) = drain(&shop.sandbox, || shop.worker("alone")).await?;
    // The worker is not idle until all messages are sent.
    wait_until_there_are_no(&shop.sandbox, UNSENT).await?;
    let (idle_share, idle_memory) = watch_idle(&worker).await?;
    Ok((took, idle_share, idle_memory))
}

async fn two_workers(shop: &Shop) -> Result<Duration, Failure> {
    let both = || Ok((shop.worker("first")?, shop.worker("second")?));
    let (took, _workers) = drain(&shop.sandbox, both).await?;
    Ok(took)
}

/// All confirms of the measurement: one for each meter of each organisation.
async fn open_merchants(sandbox: &Sandbox, address: &str) -> Result<Vec<Vec<u8>>, Failure> {
    let mut orders = Vec::new();
    for number in 1..=ORGANISATIONS {
        let merchant = open_merchant(sandbox, &format!("DRAIN{number}")).await?;
        let till = Till::log_in(address, &merchant).await?;
        orders.extend(utility_sim::population(METERS).map(|meter| till.confirm(&meter)));
    }
    orders.truncate(PURCHASES);
    Ok(orders)
}

/// Buys everything. The utility vends each purchase and loses each answer.
async fn lose_the_answers(sandbox: &Sandbox, address: &str) -> Result<(), Failure> {
    let orders = open_merchants(sandbox, address).await?;
    let lost = serde_json::json!({ "fault": "drop_after", "times": orders.len() });
    let faults = format!("{}/faults", sandbox.info().simulator_url);
    let request = sandbox::http_client()?.post(faults).header("Content-Type", "application/json");
    request.body(lost.to_string()).send().await?.error_for_status()?;
    let waiting = Arc::new(Mutex::new(VecDeque::from(orders)));
    let mut buyers = JoinSet::new();
    for _ in 0..BUYERS {
        buyers.spawn(buy(Client::connect(address).await?, waiting.clone()));
    }
    while let Some(finished) = buyers.join_next().await {
        finished??;
    }
    Ok(())
}

async fn buy(mut client: Client, waiting: Arc<Mutex<VecDeque<Vec<u8>>>>) -> Result<(), Failure> {
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    while let Some(order) = next() {
        let answer = client.exchange(&order).await?;
        if answer.status != 504 {
            return Err(format!("a confirm was answered {}: {}", answer.status, answer.body).into());
        }
    }
    Ok(())
}

/// How long the workers take from their start until no purchase is open.
async fn drain<W>(
    sandbox: &Sandbox,
    start: impl FnOnce() -> Result<W, Failure>,
) -> Result<(Duration, W), Failure> {
    wait_until_there_are_no(sandbox, &format!("{OPEN} AND due_at > clock_timestamp()")).await?;
    let open = count(sandbox, OPEN)?;
    if open != PURCHASES {
        return Err(format!("{open} purchases are open instead of {PURCHASES}").into());
    }
    let began = SystemClock.monotonic();
    let workers = start()?;
    wait_until_there_are_no(sandbox, OPEN).await?;
    let took = SystemClock.monotonic().elapsed_since(began);
    let failed = count(sandbox, "purchases WHERE state <> 'SUCCESSFUL'")?;
    if failed != 0 {
        return Err(format!("{failed} purchases were vended but did not succeed").into());
    }
    Ok((took, workers))
}

async fn wait_until_there_are_no(sandbox: &Sandbox, such: &str) -> Result<(), Failure> {
    let began = SystemClock.monotonic();
    while !is_empty(sandbox, such)? {
        if SystemClock.monotonic().elapsed_since(began) > PATIENCE {
            return Err(format!("after {PATIENCE:?} there still are {such}").into());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// To count them would take a twentieth of a processor from the workers.
fn is_empty(sandbox: &Sandbox, such: &str) -> Result<bool, Failure> {
    let first = format!("SET enable_seqscan = off; SELECT 1 FROM {such} LIMIT 1");
    Ok(sandbox.database().run_sql(&first)?.is_empty())
}

fn count(sandbox: &Sandbox, such: &str) -> Result<usize, Failure> {
    Ok(sandbox.database().run_sql(&format!("SELECT count(*) FROM {such}"))?.parse()?)
}

/// The processor time in thousandths of one processor, and the memory in bytes.
async fn watch_idle(worker: &Process) -> Result<(u128, u64), Failure> {
    let before = computing_time(worker.id())?;
    tokio::time::sleep(WATCHED).await;
    let busy = computing_time(worker.id())?.saturating_sub(before);
    let share = busy.as_micros().saturating_mul(1_000).div_ceil(WATCHED.as_micros());
    Ok((share, memory(worker.id())?))
}

impl Drain {
    fn findings(&self) -> Vec<Finding> {
        let (one, two) = (Sample::of([rate(self.one)]), Sample::of([rate(self.two)]));
        let (share, memory) = (Sample::of([self.idle_share]), Sample::of([self.idle_memory.into()]));
        vec![
            Finding::new("(d) 20,000 purchases in doubt, one worker", Unit::Rate, one.clone())
                .must(Goal::Minimum(2_500)),
            Finding::new("(d) 20,000 purchases in doubt, two workers", Unit::Rate, two)
                .beside("one worker", one)
                .must(Goal::MinimumRatio(13)),
            Finding::new("(d) processor of an idle worker", Unit::Share, share)
                .must(Goal::Maximum(IDLE_SHARE_AT_MOST)),
            Finding::new("(d) memory of an idle worker", Unit::Memory, memory)
                .must(Goal::Maximum(IDLE_MEMORY_AT_MOST)),
        ]
    }
}

/// Purchases per second, rounded down.
fn rate(took: Duration) -> u128 {
    let purchases = u128::try_from(PURCHASES).unwrap_or(u128::MAX);
    purchases.saturating_mul(1_000).checked_div(took.as_millis()).unwrap_or_default()
}
