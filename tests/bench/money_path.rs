//! Reserve and settle through the store, in group commit lanes and one at a time.

use std::{error::Error, sync::Arc, time::Duration};

use database::DatabaseSettings;
use local_postgres::LocalPostgres;
use purchase::Timing;
use store::{SealingKey, SealingKeys, Store};
use tokio::runtime::Handle;

use crate::{
    callers::buy,
    market::{Market, ORGANISATIONS},
    measurement::Measurement,
    report::Comparison,
};

/// The number of connections of the baseline.
const CONNECTIONS: usize = 16;
/// The number of measurements of each variant. The best one counts.
const ROUNDS: u32 = 3;
/// Runs before each measurement, so that connections are open and statements are prepared.
const WARM_UP: Duration = Duration::from_secs(1);

/// All callers buy from one wallet: the maximum load of one integrator.
pub async fn one_wallet(postgres: &LocalPostgres, length: Duration) -> Result<Comparison, Box<dyn Error>> {
    compare(postgres, "(a) reserve + settle, one wallet, 64 callers", 1, 8, length).await
}

/// The same load over the wallets of a thousand organisations.
pub async fn many_wallets(postgres: &LocalPostgres, length: Duration) -> Result<Comparison, Box<dyn Error>> {
    let title = "(b) reserve + settle, the wallets of 1,000 organisations, 64 callers";
    compare(postgres, title, ORGANISATIONS, 3, length).await
}

async fn compare(
    postgres: &LocalPostgres,
    title: &'static str,
    organisations: u32,
    at_least: u128,
    length: Duration,
) -> Result<Comparison, Box<dyn Error>> {
    let (mut baseline, mut measured) = (None, None);
    // The variants alternate, so that other load on this machine affects both alike.
    for _ in 0..ROUNDS {
        let alone = measure(postgres, one_at_a_time, CONNECTIONS, organisations, length).await?;
        baseline = better(baseline, alone);
        let grouped = measure(postgres, |settings| settings, 1, organisations, length).await?;
        measured = better(measured, grouped);
    }
    let (baseline, measured) = baseline.zip(measured).ok_or("no round was measured")?;
    let comparison =
        Comparison { title, measured_is: "in group commit lanes, best of 3", measured, baseline, at_least };
    println!("\n{comparison}");
    Ok(comparison)
}

fn better(best: Option<Measurement>, round: Measurement) -> Option<Measurement> {
    best.into_iter().chain([round]).max_by_key(Measurement::rate)
}

/// One connection that processes one reserve or one record at a time. Sixteen such stores are sixteen connections
/// that compete for the row. A lane of a single store would put them in a queue instead.
fn one_at_a_time(settings: DatabaseSettings) -> DatabaseSettings {
    DatabaseSettings { lanes: 1, money_pool_size: 1, group_max: 1, ..settings }
}

async fn measure(
    postgres: &LocalPostgres,
    adjust: impl Fn(DatabaseSettings) -> DatabaseSettings,
    stores: usize,
    organisations: u32,
    length: Duration,
) -> Result<Measurement, Box<dyn Error>> {
    let market = Arc::new(Market::open(postgres)?);
    let settings = adjust(DatabaseSettings::for_database(market.database.url()));
    let mut connected = Vec::new();
    for _ in 0..stores {
        connected.push(connect(settings.clone()).await?);
    }
    let warm_up = buy(&market, &connected, organisations, WARM_UP).await?;
    let measured = buy(&market, &connected, organisations, length).await?;
    market.check(warm_up.count().saturating_add(measured.count()))?;
    Ok(measured)
}

async fn connect(settings: DatabaseSettings) -> Result<Store, Box<dyn Error>> {
    let keys = SealingKeys::try_new(SealingKey::new(1, &[7; 32]), Vec::new())?;
    Ok(Store::connect(settings, keys, Timing::default(), Handle::current()).await?)
}
