//! How fast workers resolve doubt: thousands of purchases whose answers were lost, at a utility that answers at once.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clock::{Clock, SystemClock};
use local_postgres::Durability;
use sandbox::{MerchantPlan, Options, Pace, Process, Programs, Sandbox, Signal, WalletPlan};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::kernel::{computing_time, memory_kib};
use crate::till::{UNLIMITED, WALLET_MINOR, confirm_request, log_in};

type Failure = Box<dyn Error + Send + Sync>;

const PURCHASES: usize = 20_000;
/// Each organisation may have one open purchase per meter, and this many meters are on its allow-list.
const METERS: u32 = 800;
const ORGANISATIONS: u32 = 25;
const BUYERS: u32 = 64;
/// What one worker must reach, in purchases per second.
const AT_LEAST: u128 = 500;
/// How long an idle worker is measured.
const WATCHED: Duration = Duration::from_secs(20);
const IDLE_PERMILLE_AT_MOST: u128 = 10;
const IDLE_KIB_AT_MOST: u64 = 40 * 1024;
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The condition of the index over open purchases.
const OPEN: &str = "purchases WHERE state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')";
const UNSENT: &str = "outbox WHERE sent_at IS NULL AND given_up_at IS NULL";
const PATIENCE: Duration = Duration::from_mins(5);

/// What the workers achieved, and the cost of one idle worker.
pub struct Drain {
    one: Duration,
    two: Duration,
    idle_permille: u128,
    idle_kib: u64,
}

/// One worker resolves `PURCHASES` purchases in doubt. Then two workers resolve as many again.
pub fn measure(engine: &Runtime) -> Result<Drain, Box<dyn Error>> {
    let options = Options {
        port: 0,
        directory: std::env::temp_dir().join(format!("vendgate-drain-{}", std::process::id())),
        durability: Durability::Durable,
        pace: Pace::Real,
        works: false,
        population: METERS,
    };
    let programs = Programs::of_this_executable()?;
    let sandbox = Sandbox::start(&options, &programs)?;
    let server = sandbox.another_api_server(&programs.api_server, "unlimited", &UNLIMITED)?;
    let heard = |failure: Failure| -> Box<dyn Error> { failure };
    let orders = engine.block_on(open_merchants(&sandbox, server.url())).map_err(heard)?;

    let start = |name: &str| sandbox.another_retry_worker(&programs.retry_worker, name, &[]);
    engine.block_on(lose_the_answers(&sandbox, server.url(), &orders)).map_err(heard)?;
    let (one, worker) = engine.block_on(drain(&sandbox, || Ok(vec![start("alone")?]))).map_err(heard)?;
    let [worker] = <[Process; 1]>::try_from(worker).map_err(|_other| "one worker was started")?;
    // The worker is not idle until all messages are sent.
    engine.block_on(wait_until_there_are_no(&sandbox, UNSENT)).map_err(heard)?;
    let (idle_permille, idle_kib) = engine.block_on(watch_idle(&worker))?;
    worker.signal(Signal::KILL)?;

    engine.block_on(lose_the_answers(&sandbox, server.url(), &orders)).map_err(heard)?;
    let both = || Ok(vec![start("first")?, start("second")?]);
    let (two, workers) = engine.block_on(drain(&sandbox, both)).map_err(heard)?;
    drop((workers, server));
    sandbox.stop(|| true);
    std::fs::remove_dir_all(&options.directory)?;
    Ok(Drain { one, two, idle_permille, idle_kib })
}

/// All confirms of the measurement: one for each meter of each organisation.
async fn open_merchants(sandbox: &Sandbox, server: &str) -> Result<Vec<Vec<u8>>, Failure> {
    let address = server.trim_start_matches("http://");
    let meters: Vec<String> = utility_sim::population(METERS).collect();
    let mut orders = Vec::new();
    for number in 1..=ORGANISATIONS {
        let mut plan = MerchantPlan::staging(&format!("DRAIN{number}"), "Drain Stores");
        let till = WalletPlan::loaded("Till", purchase::Handling::SelfManaged);
        plan.wallets = vec![WalletPlan { minor: WALLET_MINOR, ..till }];
        let merchant = sandbox.office().open_merchant(plan).await?;
        let wallet = merchant.wallets.first().ok_or("the merchant has no wallet")?.0;
        let token = log_in(address, &merchant.credentials).await?;
        orders.extend(meters.iter().map(|meter| confirm_request(address, &token, wallet, meter)));
    }
    orders.truncate(PURCHASES);
    Ok(orders)
}

/// Buys everything. The utility vends each purchase and loses each answer.
async fn lose_the_answers(sandbox: &Sandbox, server: &str, orders: &[Vec<u8>]) -> Result<(), Failure> {
    let lost = serde_json::json!({ "fault": "drop_after", "times": orders.len() });
    let faults = format!("{}/faults", sandbox.info().simulator_url);
    let request = sandbox::http_client()?.post(faults).header("Content-Type", "application/json");
    request.body(lost.to_string()).send().await?.error_for_status()?;
    let address = server.trim_start_matches("http://");
    let waiting = Arc::new(Mutex::new(VecDeque::from(orders.to_vec())));
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
async fn drain(
    sandbox: &Sandbox,
    start: impl FnOnce() -> Result<Vec<Process>, sandbox::StartError>,
) -> Result<(Duration, Vec<Process>), Failure> {
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
    while count(sandbox, such)? > 0 {
        if SystemClock.monotonic().elapsed_since(began) > PATIENCE {
            return Err(format!("after {PATIENCE:?} there still are {such}").into());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

fn count(sandbox: &Sandbox, such: &str) -> Result<usize, Failure> {
    let counted = sandbox.database().run_sql(&format!("SELECT count(*) FROM {such}"));
    Ok(counted.map_err(|error| error.to_string())?.trim().parse()?)
}

/// The processor time in thousandths of one processor, and the memory.
async fn watch_idle(worker: &Process) -> Result<(u128, u64), Box<dyn Error>> {
    let before = computing_time(worker.id())?;
    tokio::time::sleep(WATCHED).await;
    let busy = computing_time(worker.id())?.saturating_sub(before);
    let permille = busy.as_micros().saturating_mul(1_000).div_ceil(WATCHED.as_micros());
    Ok((permille, memory_kib(worker.id())?))
}

impl Drain {
    pub fn is_reached(&self) -> bool {
        rate(self.one) >= AT_LEAST && self.two_are_no_slower() && self.idles_modestly()
    }

    /// A tolerance of 5 % covers the variation between two runs.
    fn two_are_no_slower(&self) -> bool {
        self.two.as_millis().saturating_mul(100) <= self.one.as_millis().saturating_mul(105)
    }

    const fn idles_modestly(&self) -> bool {
        self.idle_permille < IDLE_PERMILLE_AT_MOST && self.idle_kib < IDLE_KIB_AT_MOST
    }
}

impl fmt::Display for Drain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = |reached: bool| if reached { "reached" } else { "MISSED" };
        writeln!(f, "(d) {PURCHASES} purchases in doubt, worker and utility and database here")?;
        let (one, two) = (rate(self.one), rate(self.two));
        writeln!(f, "  one worker   {one:>6} /s   target {AT_LEAST} /s: {}", verdict(one >= AT_LEAST))?;
        writeln!(f, "  two workers  {two:>6} /s   target no slower: {}", verdict(self.two_are_no_slower()))?;
        let (whole, tenth) = (self.idle_permille.div_euclid(10), self.idle_permille.rem_euclid(10));
        write!(
            f,
            "  idle, one worker takes {whole}.{tenth} % of a processor and {} KiB; target 1 % and {IDLE_KIB_AT_MOST} KiB: {}",
            self.idle_kib,
            verdict(self.idles_modestly())
        )
    }
}

/// Purchases per second, rounded down.
fn rate(took: Duration) -> u128 {
    let purchases = u128::try_from(PURCHASES).unwrap_or(u128::MAX);
    purchases.saturating_mul(1_000).checked_div(took.as_millis()).unwrap_or_default()
}
