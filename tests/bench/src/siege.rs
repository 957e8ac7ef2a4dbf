//! How floods of unauthenticated requests affect other clients. The real server runs with its default settings. One
//! client buys and another logs in during the floods.
//!
//! `just siege`, or `just siege --seconds 30` for longer measurements.

mod attackers;
mod findings;
mod requests;

use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, SystemClock};
use sandbox::{Credentials, Pace, Process, Sandbox};
use tokio::runtime::Runtime;

use crate::Failure;
use crate::client::{Client, address_of};
use crate::kernel::{memory, peak_memory};
use crate::measurement::Measurement;
use crate::shop::{Shop, open_merchant};
use crate::till::{BOUGHT, Till};
use attackers::{Attackers, Flood};
pub use findings::Findings;
use findings::{Logins, Phase};
use requests::{Sender, login};

/// The number of meters that the buyer cycles through.
const METERS: u32 = 64;
/// Each flood names its source address in a header. The limits are the server's defaults.
const SETTINGS: [(&str, &str); 1] = [("VENDGATE__WEB__TRUSTED_PROXIES", "127.0.0.0/8")];
/// How long each flood lasts before anything is measured.
const WARM_UP: Duration = Duration::from_secs(3);
/// The number of logins that one address may make at once.
const LOGINS: usize = 100;
/// A correct login must succeed within this time.
pub const LOGIN_WITHIN: Duration = Duration::from_secs(1);
/// The source address of the correct logins. No flood uses it.
const ELSEWHERE: &str = "198.51.100.7";
/// The pause of the buyer between two purchases.
const REST: Duration = Duration::from_millis(5);

/// Starts a server, floods it, and measures the effect on other clients.
pub fn run(engine: &Runtime, length: Duration) -> Result<Findings, Failure> {
    let shop = Shop::open("siege", Pace::Real, METERS)?;
    let server = shop.server_with("besieged", &SETTINGS)?;
    let findings = engine.block_on(besiege(&shop.sandbox, &server, length))?;
    drop(server);
    shop.close()?;
    Ok(findings)
}

async fn besiege(sandbox: &Sandbox, server: &Process, length: Duration) -> Result<Findings, Failure> {
    let merchant = open_merchant(sandbox, "SIEGE").await?;
    let address: Arc<str> = address_of(server.url()).into();
    let till = Till::log_in(&address, &merchant).await?;
    let mut buyer = Buyer::new(&address, &till).await?;
    let credentials = merchant.credentials;

    let started = memory(server.id())?;
    buyer.buy_for(WARM_UP).await?;
    let quiet = Phase::quiet("quiet", buyer.buy_for(length).await?, peak_memory(server.id())?);
    let mut phases = vec![quiet];
    for flood in Flood::ALL {
        let attackers = Attackers::begin(flood, &address, &credentials);
        tokio::time::sleep(WARM_UP).await;
        let confirms = buyer.buy_for(length).await?;
        let logins = correct_logins(&address, &credentials).await?;
        let outcome = attackers.end().await;
        let peak = peak_memory(server.id())?;
        phases.push(Phase {
            name: flood.name(),
            confirms,
            outcome: Some(outcome),
            logins: Some(logins),
            peak,
        });
    }
    tokio::time::sleep(WARM_UP).await;
    let after = buyer.buy_for(length).await?;
    phases.push(Phase::quiet("after", after, peak_memory(server.id())?));
    let left = memory(server.id())?;
    Ok(Findings { started, phases, left })
}

/// One client that buys for one meter after another.
struct Buyer {
    client: Client,
    confirms: Vec<Vec<u8>>,
    next: usize,
}

impl Buyer {
    async fn new(address: &str, till: &Till) -> Result<Self, Failure> {
        let confirms = utility_sim::population(METERS).map(|meter| till.confirm(&meter)).collect();
        Ok(Self { client: Client::connect(address).await?, confirms, next: 0 })
    }

    /// Any answer except a success is a failure.
    async fn buy_for(&mut self, length: Duration) -> Result<Measurement, Failure> {
        let began = SystemClock.monotonic();
        let mut latencies = Vec::new();
        while SystemClock.monotonic().elapsed_since(began) < length {
            let confirm = self.confirms.get(self.next.rem_euclid(self.confirms.len())).ok_or("no meters")?;
            self.next = self.next.saturating_add(1);
            let started = SystemClock.monotonic();
            let answer = self.client.exchange(confirm).await?;
            latencies.push(SystemClock.monotonic().elapsed_since(started));
            if answer.status != 200 || !answer.body.contains(BOUGHT) {
                return Err(format!("a confirm was answered {}: {}", answer.status, answer.body).into());
            }
            tokio::time::sleep(REST).await;
        }
        Ok(Measurement::new(SystemClock.monotonic().elapsed_since(began), latencies))
    }
}

/// Logins with correct credentials, one after another, from an address that no flood uses. Each uses its own
/// connection.
async fn correct_logins(address: &str, credentials: &Credentials) -> Result<Logins, Failure> {
    let request = login(&Sender { address, from: ELSEWHERE }, credentials);
    let (mut latencies, mut succeeded, began) = (Vec::new(), 0, SystemClock.monotonic());
    for _ in 0..LOGINS {
        let started = SystemClock.monotonic();
        let answer = Client::connect(address).await?.exchange(&request).await?;
        let took = SystemClock.monotonic().elapsed_since(started);
        latencies.push(took);
        succeeded += usize::from(answer.status == 200 && took <= LOGIN_WITHIN);
    }
    let latencies = Measurement::new(SystemClock.monotonic().elapsed_since(began), latencies);
    Ok(Logins { tried: LOGINS, succeeded, latencies })
}
