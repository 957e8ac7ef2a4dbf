//! What the worker and the operator do beside the sales: doubt, the standing checks, housekeeping, an index.

use std::time::Duration;

use back_office::{CheckProgress, check_books, purge_expired};
use bench::{
    Failure,
    client::Client,
    finding::{Finding, Goal, Sample, Unit},
    measurement::together,
};
use clock::{Clock, SystemClock};

use crate::side::{METERS, Side};

const SHORT: &str = "with the short history";
/// Looks of the checks.
const LOOKS: usize = 15;
/// Messages that housekeeping deletes at a time. The sales have left many times as many.
const EXPIRED: u64 = 1_500;
/// Messages of the history that may grow old within the seconds of a measurement: ten million purchases a year have one a second.
const OTHERS_MAX: u64 = 15;
/// How often the index is built.
const INDEXES: usize = 3;
const BUYERS: usize = 32;
/// Organisations whose purchases are in doubt. A subscriber has only one open purchase with each.
const IN_DOUBT: u32 = 4;
/// A look reads the index entries of all purchases that were open since the last vacuum, which takes longer with a long history because a
/// vacuum comes more seldom. Five times as many looks took a quarter of a processor from the worker there, and nothing with a short one.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_mins(3);
const OPEN: &str = "purchases WHERE state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE')";
const INDEX: &str =
    "CREATE INDEX CONCURRENTLY growth_trial ON purchases (organisation_id, provider_code, created_at)";

/// All of them, in turn on both sides.
pub async fn measure(short: &Side, long: &Side, rounds: u32) -> Result<Vec<Finding>, Failure> {
    let looks = look([short, long]).await?;
    let (mut purges, mut doubts) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..rounds {
        for ((side, purged), ended) in [short, long].into_iter().zip(&mut purges).zip(&mut doubts) {
            purged.push(purge(side).await?);
            ended.push(end_doubt(side).await?);
        }
    }
    let mut built = [Vec::new(), Vec::new()];
    for _ in 0..INDEXES {
        for (side, built) in [short, long].into_iter().zip(&mut built) {
            built.push(build(side)?);
        }
    }
    let indexes = built.map(Sample::of);
    let slower = |what: &str, [before, after]: [Sample; 2]| {
        Finding::new(what, Unit::Time, after).beside(SHORT, before).must(Goal::MaximumRatio(15))
    };
    let rate = |what: &str, [before, after]: [Sample; 2]| {
        Finding::new(what, Unit::Rate, after).beside(SHORT, before).must(Goal::MinimumRatio(9))
    };
    Ok(vec![
        slower("a look of the standing checks", looks),
        slower("housekeeping, 1,500 messages", purges.map(Sample::of_times)),
        rate("a worker, 3,600 purchases in doubt", doubts.map(Sample::of)),
        rate("an index of purchases is built concurrently, rows", indexes),
    ])
}

/// In turn on both sides. The first look of a side takes many new rows, and is left out.
async fn look(sides: [&Side; 2]) -> Result<[Sample; 2], Failure> {
    let mut progress = [CheckProgress::default(), CheckProgress::default()];
    let mut took = [Vec::new(), Vec::new()];
    for number in 0..=LOOKS {
        for ((side, progress), took) in sides.into_iter().zip(&mut progress).zip(&mut took) {
            let began = SystemClock.monotonic();
            let violations = check_books(side.store(), progress).await?;
            if number > 0 {
                took.push(SystemClock.monotonic().elapsed_since(began));
            }
            if let Some(violation) = violations.first() {
                return Err(format!("after the sales there is {violation:?}").into());
            }
        }
    }
    Ok(took.map(Sample::of_times))
}

/// The oldest messages are made older, and deleted as a worker does it, with the worker's rights. What has grown old since the history was
/// fabricated is deleted before.
async fn purge(side: &Side) -> Result<Duration, Failure> {
    side.asks("GRANT vendgate_worker TO vendgate_operator")?;
    purge_expired(side.store().database()).await?;
    let old = format!(
        "SET session_replication_role = replica;
         UPDATE outbox SET sent_at = now() - interval '40 days' WHERE (purchase_id, recipient, channel) IN (
             SELECT purchase_id, recipient, channel FROM outbox ORDER BY purchase_id, recipient, channel LIMIT {EXPIRED});
         RESET session_replication_role"
    );
    side.asks(&old)?;
    side.asks("VACUUM outbox")?;
    let began = SystemClock.monotonic();
    let purged = purge_expired(side.store().database()).await?;
    let took = SystemClock.monotonic().elapsed_since(began);
    side.asks("REVOKE vendgate_worker FROM vendgate_operator")?;
    if !(EXPIRED..EXPIRED + OTHERS_MAX).contains(&purged.messages) {
        return Err(format!("{} messages were deleted instead of {EXPIRED}", purged.messages).into());
    }
    Ok(took)
}

/// The utility vends 3,600 purchases and loses its answers. The purchases that a worker ends in a second.
async fn end_doubt(side: &Side) -> Result<u128, Failure> {
    for merchant in 0..IN_DOUBT {
        lose_the_answers(side, usize::try_from(merchant)?).await?;
    }
    wait_until_there_are_no(side, &format!("{OPEN} AND due_at > clock_timestamp()")).await?;
    let began = SystemClock.monotonic();
    let _worker = side.shop.worker("worker")?;
    wait_until_there_are_no(side, OPEN).await?;
    let took = SystemClock.monotonic().elapsed_since(began);
    Ok(u128::from(METERS * IN_DOUBT).saturating_mul(1_000).checked_div(took.as_millis()).unwrap_or_default())
}

async fn lose_the_answers(side: &Side, merchant: usize) -> Result<(), Failure> {
    let till = side.log_in(merchant).await?;
    let orders: Vec<Vec<u8>> = utility_sim::population(METERS).map(|meter| till.confirm(&meter)).collect();
    let lost = serde_json::json!({ "fault": "drop_after", "times": orders.len() });
    let faults = format!("{}/faults", side.shop.sandbox.info().simulator_url);
    let request = sandbox::http_client()?.post(faults).header("Content-Type", "application/json");
    request.body(lost.to_string()).send().await?.error_for_status()?;
    let mut buyers = Vec::new();
    for share in orders.chunks(orders.len().div_ceil(BUYERS)) {
        buyers.push((Client::connect(side.address()).await?, share.to_vec()));
    }
    together(buyers, |(mut client, orders)| async move {
        for order in &orders {
            let answer = client.exchange(order).await?;
            if answer.status != 504 {
                return Err(format!("a confirm was answered {}: {}", answer.status, answer.body).into());
            }
        }
        Ok::<_, Failure>(((client, orders), Vec::new()))
    })
    .await?;
    Ok(())
}

async fn wait_until_there_are_no(side: &Side, such: &str) -> Result<(), Failure> {
    let began = SystemClock.monotonic();
    while side.asks(&format!("SELECT EXISTS (SELECT FROM {such})"))? != "f" {
        if SystemClock.monotonic().elapsed_since(began) > PATIENCE {
            return Err(format!("after {PATIENCE:?} there still are {such}").into());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// Rows per second of an index that is built as migrations build theirs.
fn build(side: &Side) -> Result<u128, Failure> {
    let rows: u128 = side.asks("SELECT count(*) FROM purchases")?.parse()?;
    let began = SystemClock.monotonic();
    side.asks(INDEX)?;
    let took = SystemClock.monotonic().elapsed_since(began);
    side.asks("DROP INDEX growth_trial")?;
    Ok(rows.saturating_mul(1_000_000).checked_div(took.as_micros()).unwrap_or_default())
}
