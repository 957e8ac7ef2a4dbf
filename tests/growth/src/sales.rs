//! Confirms and retries over HTTP, from many clients, in turn on both sides.

use std::time::Duration;

use bench::{
    Failure,
    arguments::Effort,
    client::Client,
    finding::{Finding, Goal, Sample, Unit},
    measurement::{Measurement, together},
    till::BOUGHT,
};
use clock::{Clock, SystemClock};

use crate::{
    chance::mixed,
    history::BIG,
    side::{METERS, Side},
    space::Space,
};

const CLIENTS: u32 = 64;
/// Of each client. So no reference is used twice.
const SOLD_IN_A_ROUND_AT_MOST: u64 = 100_000;
/// Long enough for every connection to be made, every statement to be prepared, and every meter to be checked.
const WARM_UP: Duration = Duration::from_secs(2);
const SHORT: &str = "with the short history";
/// Purchases of the history that are retried.
const RETRIED: usize = 2_000;
const RETRYING: usize = 16;

/// The rates on both sides, with their goals.
pub async fn measure(short: &Side, long: &Side, effort: Effort) -> Result<Vec<Finding>, Failure> {
    let sides = [short, long];
    let (mut confirms, mut retries) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let mut written = [Vec::new(), Vec::new()];
    let mut after_a_round = None;
    for round in 0..effort.rounds {
        for (((side, confirms), retries), written) in
            sides.into_iter().zip(&mut confirms).zip(&mut retries).zip(&mut written)
        {
            let (measured, wal) = confirm(side, u64::from(round), effort.length).await?;
            confirms.push(measured);
            written.push(wal);
            retries.push(retry(side).await?);
            // As autovacuum does after so many purchases.
            side.asks("VACUUM purchases")?;
        }
        if after_a_round.is_none() {
            after_a_round = Some(Space::of(short)?);
        }
    }
    let begun = after_a_round.ok_or("there was no round")?;
    let space = Space::of(short)?.since(&begun);
    let [before, after] = confirms;
    let [asked_before, asked_after] = retries;
    let [wal_before, wal_after] = written.map(Sample::of);
    let time = |what, after: &[Measurement], before: &[Measurement]| {
        let p99 = Finding::new(what, Unit::Time, Sample::of_percentiles(after, 99));
        p99.beside(SHORT, Sample::of_percentiles(before, 99)).must(Goal::MaximumRatio(12))
    };
    let rate = |what, after: &[Measurement], before: &[Measurement]| {
        let rate = Finding::new(what, Unit::Rate, Sample::of_rates(after));
        rate.beside(SHORT, Sample::of_rates(before)).must(Goal::MinimumRatio(9))
    };
    let rates = vec![
        rate("confirms over HTTP, one wallet, 64 clients", &after, &before),
        time("a confirm's p99, 64 clients", &after, &before),
        Finding::new("WAL of a confirm, with its images of pages", Unit::Bytes, wal_after)
            .beside(SHORT, wal_before),
        rate("retries of ended purchases of the history, 16 clients", &asked_after, &asked_before),
    ];
    Ok(rates.into_iter().chain(space).collect())
}

/// A client that buys for one meter, each time under a new reference and a new key, of the form that those of the history have.
struct Buyer {
    client: Client,
    till: std::sync::Arc<bench::till::Till>,
    meter: String,
    number: u64,
    sold: u64,
}

/// Also the bytes of WAL that each confirm took.
async fn confirm(side: &Side, round: u64, length: Duration) -> Result<(Measurement, u128), Failure> {
    let till = std::sync::Arc::new(side.log_in(BIG).await?);
    let mut buyers = Vec::new();
    for (number, meter) in (0_u64..).zip(utility_sim::population(METERS).take(CLIENTS.try_into()?)) {
        let client = Client::connect(side.address()).await?;
        buyers.push(Buyer {
            client,
            till: till.clone(),
            meter,
            number,
            sold: round.wrapping_mul(SOLD_IN_A_ROUND_AT_MOST),
        });
    }
    let (buyers, _warm) = together(buyers, |buyer| buyer.buy_for(WARM_UP)).await?;
    let wal =
        || -> Result<u128, Failure> { Ok(side.asks("SELECT pg_current_wal_insert_lsn() - '0/0'")?.parse()?) };
    let before = wal()?;
    let (_buyers, measured) = together(buyers, |buyer| buyer.buy_for(length)).await?;
    let written =
        wal()?.saturating_sub(before).checked_div(u128::try_from(measured.count())?).unwrap_or_default();
    Ok((measured, written))
}

impl Buyer {
    async fn buy_for(mut self, length: Duration) -> Result<(Self, Vec<Duration>), Failure> {
        let began = SystemClock.monotonic();
        let mut latencies = Vec::new();
        while SystemClock.monotonic().elapsed_since(began) < length {
            self.sold = self.sold.wrapping_add(1);
            let key = format!("{:016x}{:016x}", mixed(self.sold, self.number), mixed(self.number, self.sold));
            let reference = format!("till-{}-{:07}", self.number, self.sold);
            let order = self.till.confirm_once(&self.meter, &reference, &key);
            let started = SystemClock.monotonic();
            let answer = self.client.exchange(&order).await?;
            latencies.push(SystemClock.monotonic().elapsed_since(started));
            if answer.status != 200 || !answer.body.contains(BOUGHT) {
                return Err(format!("a confirm was answered {}: {}", answer.status, answer.body).into());
            }
        }
        Ok((self, latencies))
    }
}

/// Asks once about each of some purchases of the history.
async fn retry(side: &Side) -> Result<Measurement, Failure> {
    let till = side.log_in(BIG).await?;
    let questions: Vec<Vec<u8>> = side
        .sample(BIG, RETRIED)?
        .iter()
        .map(|past| till.retry_of(&past.subscriber, &past.reference))
        .collect();
    let mut clients = Vec::new();
    for share in questions.chunks(questions.len().div_ceil(RETRYING).max(1)) {
        clients.push((Client::connect(side.address()).await?, share.to_vec()));
    }
    let (_clients, measured) = together(clients, |(mut client, questions)| async move {
        let mut latencies = Vec::new();
        for question in &questions {
            let started = SystemClock.monotonic();
            let answer = client.exchange(question).await?;
            latencies.push(SystemClock.monotonic().elapsed_since(started));
            if answer.status != 200 || !answer.body.contains(BOUGHT) {
                return Err(format!("a retry was answered {}: {}", answer.status, answer.body).into());
            }
        }
        Ok::<_, Failure>(((client, questions), latencies))
    })
    .await?;
    Ok(measured)
}
