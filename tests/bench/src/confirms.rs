//! (c) Whole confirms over HTTP. The real server and a simulator that answers at once run as separate processes. The
//! clients keep their connections.

use std::time::Duration;

use sandbox::{Merchant, Pace, Process};
use tokio::runtime::Runtime;

use crate::{
    Failure,
    arguments::Effort,
    client::address_of,
    crowd::Crowd,
    finding::{Finding, Goal, Sample, Unit},
    measurement::Measurement,
    postgres::bare_commits,
    row_lock::ONE_WALLET,
    shop::{Shop, open_merchant},
    till::{BOUGHT, Till},
    utility::Vendor,
};

/// So many clients buy at once, each for a meter of its own.
const CLIENTS: [usize; 6] = [1, 4, 16, 64, 256, 1_000];
/// The number of clients that is compared with the row lock.
const USUAL: usize = 64;
/// From this number of clients on the rate must stay near the best one.
const MANY: usize = 16;
/// An allow-list has no room for more meters. So of a thousand clients a hundred buy from the wallet of a second merchant.
const METERS: u32 = 900;
/// Long enough for every connection to be made, every statement to be prepared, and every meter to be checked.
const WARM_UP: Duration = Duration::from_secs(2);

/// The same number of clients in all rounds.
struct Series {
    clients: usize,
    rounds: Vec<Measurement>,
}

struct Confirms {
    row_lock: Vec<Measurement>,
    commits: Vec<Measurement>,
    vends: Vec<Measurement>,
    series: [Series; CLIENTS.len()],
}

/// All clients buy from one wallet for a while, in each of the numbers.
pub fn measure(engine: &Runtime, effort: Effort) -> Result<Vec<Finding>, Failure> {
    let shop = Shop::open("confirms", Pace::Production, METERS)?;
    let server = shop.server("unlimited")?;
    let mut confirms = Confirms {
        row_lock: Vec::new(),
        commits: Vec::new(),
        vends: Vec::new(),
        series: CLIENTS.map(|clients| Series { clients, rounds: Vec::new() }),
    };
    engine.block_on(confirms.measure(&shop, &server, effort))?;
    drop(server);
    shop.close()?;
    Ok(confirms.findings())
}

impl Confirms {
    /// The yardsticks and the numbers of clients alternate, so that other load on this machine affects all of them alike.
    async fn measure(&mut self, shop: &Shop, server: &Process, effort: Effort) -> Result<(), Failure> {
        let (sandbox, address) = (&shop.sandbox, address_of(server.url()));
        let merchants = [open_merchant(sandbox, "BENCH1").await?, open_merchant(sandbox, "BENCH2").await?];
        let mut vendor = Vendor::at_utility_of(sandbox)?;
        let postgres = sandbox.postgres().ok_or("the sandbox has no Postgres of its own")?;
        for _ in 0..effort.rounds {
            self.row_lock.push(ONE_WALLET.measure(postgres, effort.length).await?);
            self.commits.push(bare_commits(postgres).await?);
            self.vends.push(vendor.vend().await?);
            let orders = orders(address, &merchants).await?;
            for series in &mut self.series {
                let requests = orders.iter().take(series.clients).cloned();
                let mut clients = Crowd::connect(address, requests, BOUGHT).await?;
                clients.send_for(WARM_UP).await?;
                series.rounds.push(clients.send_for(effort.length).await?);
            }
        }
        Ok(())
    }

    fn findings(&self) -> Vec<Finding> {
        let best = self.series.iter().map(|series| Sample::of_rates(&series.rounds));
        let best = best.max_by_key(Sample::median).unwrap_or_default();
        let mut findings = Vec::new();
        for Series { clients, rounds } in &self.series {
            if *clients == USUAL {
                findings.extend(self.beside_the_row_lock(rounds));
            }
            if *clients == 1 {
                findings.push(self.latency_of_one(rounds));
            }
            let callers = if *clients == 1 { "one client".to_owned() } else { format!("{clients} clients") };
            let what = format!("(c) confirms over HTTP, {callers}");
            let rate = Finding::new(what, Unit::Rate, Sample::of_rates(rounds));
            let rate = rate.beside("the best of these numbers of clients", best.clone());
            findings.push(if *clients >= MANY { rate.must(Goal::MinimumRatio(9)) } else { rate });
        }
        findings
    }

    fn beside_the_row_lock(&self, rounds: &[Measurement]) -> [Finding; 2] {
        let what = format!("(c) confirms over HTTP, one wallet, {USUAL} clients");
        let rate = Finding::new(what, Unit::Rate, Sample::of_rates(rounds));
        let (p50, p99) = (Sample::of_percentiles(rounds, 50), Sample::of_percentiles(rounds, 99));
        let p99 = Finding::new(format!("(c) a confirm's p99, {USUAL} clients"), Unit::Time, p99);
        [
            rate.beside(ONE_WALLET.name, Sample::of_rates(&self.row_lock)).must(Goal::MinimumRatio(30)),
            p99.beside("its p50", p50).must(Goal::MaximumRatio(30)),
        ]
    }

    /// What no confirm can avoid is one answer of the utility, and a commit before and after it.
    fn latency_of_one(&self, rounds: &[Measurement]) -> Finding {
        let least = self.vends.iter().zip(&self.commits).map(|(vends, commits)| {
            let commit = commits.percentile(50);
            vends.percentile(50).saturating_add(commit).saturating_add(commit)
        });
        let p50 = Sample::of_percentiles(rounds, 50);
        let latency = Finding::new("(c) a confirm's p50, one client", Unit::Time, p50);
        latency
            .beside("p50 of a vend and of two bare commits", Sample::of_times(least))
            .must(Goal::MaximumRatio(15))
    }
}

/// A confirm for every meter of every merchant. Everyone logs in anew, because access tokens expire.
async fn orders(address: &str, merchants: &[Merchant]) -> Result<Vec<Vec<u8>>, Failure> {
    let mut orders = Vec::new();
    for merchant in merchants {
        let till = Till::log_in(address, merchant).await?;
        orders.extend(utility_sim::population(METERS).map(|meter| till.confirm(&meter)));
    }
    Ok(orders)
}
