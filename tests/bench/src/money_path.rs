//! (a), (b) Reserve and settle through the store, beside the same purchases in bare SQL.

use std::{sync::Arc, time::Duration};

use database::{DatabaseSettings, Purpose};
use local_postgres::LocalPostgres;
use purchase::Timing;
use store::Store;
use test_kit::purchases::sealing_keys;
use tokio::runtime::Handle;

use crate::{
    Failure,
    arguments::Effort,
    callers::buy,
    finding::{Finding, Goal, Sample, Unit},
    market::{Market, ORGANISATIONS},
    measurement::Measurement,
    row_lock::{MANY_WALLETS, ONE_WALLET, RowLock},
};

/// The number of connections of the store that buys one at a time.
const CONNECTIONS: usize = 16;
/// Runs before each measurement, so that connections are open and statements are prepared.
const WARM_UP: Duration = Duration::from_secs(1);

/// The wallets that the callers buy from, and what is compared.
struct Load {
    what: &'static str,
    organisations: u32,
    row_lock: RowLock,
    goal: Goal,
}

/// All callers buy from one wallet: the maximum load of one integrator.
pub async fn one_wallet(postgres: &LocalPostgres, effort: Effort) -> Result<Vec<Finding>, Failure> {
    let load = Load {
        what: "(a) store, one wallet, 64 callers",
        organisations: 1,
        row_lock: ONE_WALLET,
        goal: Goal::MinimumRatio(60),
    };
    load.measure(postgres, effort).await
}

/// The same callers buy from the wallets of a thousand organisations.
pub async fn many_wallets(postgres: &LocalPostgres, effort: Effort) -> Result<Vec<Finding>, Failure> {
    let load = Load {
        what: "(b) store, 1,000 wallets, 64 callers",
        organisations: ORGANISATIONS,
        row_lock: MANY_WALLETS,
        goal: Goal::MinimumRatio(25),
    };
    load.measure(postgres, effort).await
}

impl Load {
    /// The variants alternate, so that other load on this machine affects all of them alike.
    async fn measure(&self, postgres: &LocalPostgres, effort: Effort) -> Result<Vec<Finding>, Failure> {
        let (mut bare, mut grouped, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..effort.rounds {
            bare.push(self.row_lock.measure(postgres, effort.length).await?);
            grouped.push(self.buy(postgres, 1, |settings| settings, effort.length).await?);
            alone.push(self.buy(postgres, CONNECTIONS, one_at_a_time, effort.length).await?);
        }
        let bare = Sample::of_rates(&bare);
        let compared = |what: String, rounds: &[Measurement]| {
            Finding::new(what, Unit::Rate, Sample::of_rates(rounds)).beside(self.row_lock.name, bare.clone())
        };
        Ok(vec![
            compared(self.what.to_owned(), &grouped).must(self.goal),
            compared(format!("{}, one at a time over {CONNECTIONS} connections", self.what), &alone),
        ])
    }

    async fn buy(
        &self,
        postgres: &LocalPostgres,
        stores: usize,
        adjust: impl Fn(DatabaseSettings) -> DatabaseSettings,
        length: Duration,
    ) -> Result<Measurement, Failure> {
        let market = Arc::new(Market::open(postgres)?);
        let settings = adjust(DatabaseSettings::for_database(market.database.url()));
        let mut connected = Vec::new();
        for _ in 0..stores {
            connected.push(connect(settings.clone()).await?);
        }
        let warm_up = buy(&market, &connected, self.organisations, WARM_UP).await?;
        let measured = buy(&market, &connected, self.organisations, length).await?;
        market.check(warm_up.count().saturating_add(measured.count()))?;
        Ok(measured)
    }
}

/// One connection that processes one reserve or one record at a time. Sixteen such stores are sixteen connections
/// that compete for the row. A lane of a single store would put them in a queue instead.
fn one_at_a_time(settings: DatabaseSettings) -> DatabaseSettings {
    DatabaseSettings { lanes: Some(1), money_pool_size: 1, group_max: 1, ..settings }
}

async fn connect(settings: DatabaseSettings) -> Result<Store, Failure> {
    Ok(Store::connect(settings, sealing_keys(), Timing::default(), Purpose::Requests, Handle::current())
        .await?)
}
