//! Full confirms over HTTP. The real server and a simulator that answers at once run as separate processes. The
//! clients keep their connections.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, SystemClock};
use local_postgres::Durability;
use sandbox::{MerchantPlan, Options, Pace, Programs, Sandbox, WalletPlan};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::kernel::peak_memory_kib;
use crate::measurement::Measurement;
use crate::till::{UNLIMITED, WALLET_MINOR, confirm_request, log_in};

type Failure = Box<dyn Error + Send + Sync>;

/// The number of clients. Each buys for its own meter.
const CLIENTS: u32 = 64;
/// Long enough for every connection to be made and every statement to be prepared.
const WARM_UP: Duration = Duration::from_secs(2);

/// The measurement, and the peak memory of the server.
pub struct Confirms {
    pub measured: Measurement,
    pub server_peak_kib: u64,
}

/// All clients buy from one wallet for a while.
pub fn one_wallet(engine: &Runtime, length: Duration) -> Result<Confirms, Box<dyn Error>> {
    let options = Options {
        port: 0,
        directory: std::env::temp_dir().join(format!("vendgate-bench-{}", std::process::id())),
        durability: Durability::Durable,
        pace: Pace::Real,
        population: CLIENTS,
        works: false,
    };
    let programs = Programs::of_this_executable()?;
    let sandbox = Sandbox::start(&options, &programs)?;
    let server = sandbox.another_api_server(&programs.api_server, "unlimited", &UNLIMITED)?;
    let measured = engine.block_on(measure(&sandbox, server.url(), length));
    let measured = measured.map_err(|failure| -> Box<dyn Error> { failure });
    let server_peak_kib = peak_memory_kib(server.id())?;
    drop(server);
    sandbox.stop(|| false);
    std::fs::remove_dir_all(&options.directory)?;
    Ok(Confirms { measured: measured?, server_peak_kib })
}

async fn measure(sandbox: &Sandbox, server: &str, length: Duration) -> Result<Measurement, Failure> {
    let mut plan = MerchantPlan::staging("BENCH", "Bench Stores");
    plan.wallets = vec![WalletPlan {
        minor: WALLET_MINOR,
        ..WalletPlan::loaded("Till", purchase::Handling::SelfManaged)
    }];
    let merchant = sandbox.office().open_merchant(plan).await?;
    let wallet = merchant.wallets.first().ok_or("the merchant has no wallet")?.0;
    let address: Arc<str> = server.trim_start_matches("http://").into();
    let token = log_in(&address, &merchant.credentials).await?;

    let mut buyers = Vec::new();
    for meter in utility_sim::population(CLIENTS) {
        let confirm = confirm_request(&address, &token, wallet, &meter);
        buyers.push(Buyer { client: Client::connect(&address).await?, confirm });
    }
    let (buyers, _warm_up) = buy_for(buyers, WARM_UP).await?;
    let (_buyers, measured) = buy_for(buyers, length).await?;
    Ok(measured)
}

struct Buyer {
    client: Client,
    confirm: Vec<u8>,
}

async fn buy_for(buyers: Vec<Buyer>, length: Duration) -> Result<(Vec<Buyer>, Measurement), Failure> {
    let began = SystemClock.monotonic();
    let mut tasks = JoinSet::new();
    for buyer in buyers {
        tasks.spawn(buyer.buy_for(length));
    }
    let (mut buyers, mut latencies) = (Vec::new(), Vec::new());
    while let Some(finished) = tasks.join_next().await {
        let (buyer, took) = finished??;
        buyers.push(buyer);
        latencies.extend(took);
    }
    Ok((buyers, Measurement::new(SystemClock.monotonic().elapsed_since(began), latencies)))
}

impl Buyer {
    /// Buys repeatedly and returns the latency of each purchase. Any answer except a success is a failure.
    async fn buy_for(mut self, length: Duration) -> Result<(Self, Vec<Duration>), Failure> {
        let clock = SystemClock;
        let began = clock.monotonic();
        let mut latencies = Vec::new();
        while clock.monotonic().elapsed_since(began) < length {
            let started = clock.monotonic();
            let answer = self.client.exchange(&self.confirm).await?;
            latencies.push(clock.monotonic().elapsed_since(started));
            if answer.status != 200 || !answer.body.contains(r#""status":"SUCCESSFUL""#) {
                return Err(format!("a confirm was answered {}: {}", answer.status, answer.body).into());
            }
        }
        Ok((self, latencies))
    }
}
