//! What several processes do at the same time.

use futures_util::future::join_all;
use purchase::{Event, Fence, Handling, PurchaseId, StateName};
use vend::RefusalReason;

use super::buyer::{BALANCE, Buyer, TOTAL, refused, vended};
use super::{Bench, is};
use crate::{Recorded, Reservation, ReserveError, ReserveRefusal, Reserved, Verdict};

type Examined = Result<(), String>;

/// How often each race is run, because a store that locks nothing may win one by chance.
const ROUNDS: usize = 4;
/// How many run at the same time.
const CROWD: usize = 8;
/// How many purchases the balance is enough for.
const ENOUGH_FOR: usize = 4;

async fn reserve_at_once(buyer: &Buyer<'_>, orders: &[Reservation]) -> Vec<Result<Reserved, ReserveError>> {
    join_all(orders.iter().map(|order| buyer.reserve(order))).await
}

async fn record_at_once(
    buyer: &Buyer<'_>,
    events: Vec<(PurchaseId, Event)>,
) -> Result<Vec<Recorded>, String> {
    join_all(events.into_iter().map(|(id, event)| buyer.record(id, event))).await.into_iter().collect()
}

/// That some of them are reserved and at most `most`, that the others are refused for this reason or were not kept, and that the hold is
/// that of the reserved ones.
async fn are_in_turn(
    buyer: &Buyer<'_>,
    outcomes: Vec<Result<Reserved, ReserveError>>,
    most: usize,
    is_reason: impl Fn(ReserveRefusal) -> bool,
) -> Examined {
    let mut count = 0;
    for outcome in outcomes {
        match outcome {
            Ok(_) => count += 1,
            Err(ReserveError::NotKept) => {}
            Err(ReserveError::Refused(refusal)) if is_reason(refusal) => {}
            Err(error @ (ReserveError::Refused(_) | ReserveError::Unacknowledged)) => {
                return Err(error.to_string());
            }
        }
    }
    is("whether one to the most are reserved", (1..=most).contains(&count), true)?;
    let held = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(TOTAL);
    is("the balances", buyer.balances().await?, (BALANCE, held))
}

pub(super) async fn reserves_in_turn(bench: &dyn Bench) -> Examined {
    for _round in 0..ROUNDS {
        let buyer = Buyer::of(bench, Handling::SelfManaged).await;
        let mut orders = Vec::new();
        for number in 0..CROWD {
            orders.push(buyer.order("04000000001", &format!("order {number}")).await?);
        }
        let reserves = reserve_at_once(&buyer, &orders).await;
        are_in_turn(&buyer, reserves, 1, |refusal| refusal == ReserveRefusal::Pending).await?;

        let buyer = Buyer::of(bench, Handling::SelfManaged).await;
        let mut orders = Vec::new();
        for number in 0..CROWD {
            orders.push(buyer.order(&format!("0400000000{number}"), "order").await?);
        }
        let reserves = reserve_at_once(&buyer, &orders).await;
        let is_reason = |refusal| matches!(refusal, ReserveRefusal::Insufficient { .. });
        are_in_turn(&buyer, reserves, ENOUGH_FOR, is_reason).await?;

        let buyer = Buyer::of(bench, Handling::SelfManaged).await;
        let order = buyer.order("04000000001", "order").await?;
        let runs = reserve_at_once(&buyer, &vec![order; CROWD]).await;
        let new = runs.iter().filter(|run| run.as_ref().is_ok_and(|reserved| reserved.is_new)).count();
        is("the runs of one reservation that made it", new, 1)?;
        is("the balances of one reservation", buyer.balances().await?, (BALANCE, TOTAL))?;
    }
    Ok(())
}

fn moved(recorded: &[Recorded]) -> usize {
    recorded.iter().filter(|recorded| recorded.verdict == Verdict::Moved).count()
}

pub(super) async fn records_in_turn(bench: &dyn Bench) -> Examined {
    for _round in 0..ROUNDS {
        one_claims(bench).await?;
        one_end(bench).await?;
        every_sale_is_paid(bench).await?;
    }
    Ok(())
}

async fn one_claims(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    buyer.lease_runs_out().await;
    let claims = record_at_once(&buyer, vec![(order.id, Event::Claimed); CROWD]).await?;
    is("the claims that were successful", moved(&claims), 1)?;
    let found = bench.store().get(order.id).await.map_err(|error| error.to_string())?;
    is("the fence", found.map(|found| found.lifecycle.fence), Some(Fence::FIRST.next()))
}

/// A vend and a refusal of one purchase: the hold is captured or released, as the state says.
async fn one_end(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    let news = [
        vended(format!("T{}", order.id.0))?,
        refused(Fence::FIRST, RefusalReason::Blocked),
        Event::NeverSent { fence: Fence::FIRST },
        vended(format!("T{}", order.id.0))?,
    ];
    record_at_once(&buyer, news.map(|event| (order.id, event)).into()).await?;
    let found = bench.store().get(order.id).await.map_err(|error| error.to_string())?;
    let state = found.ok_or("the purchase has vanished")?.lifecycle.state.name();
    let paid = if state == StateName::Successful { TOTAL } else { 0 };
    is("whether it has ended", state.is_open(), false)?;
    is("the balances after the end", buyer.balances().await?, (BALANCE - paid, 0))
}

/// The purchases of one wallet end together.
async fn every_sale_is_paid(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let mut events = Vec::new();
    for number in 0..ENOUGH_FOR {
        let order = buyer.bought(&format!("0400000000{number}")).await?;
        events.push((order.id, vended(format!("T{}", order.id.0))?));
    }
    record_at_once(&buyer, events).await?;
    let paid = i64::try_from(ENOUGH_FOR).unwrap_or_default().saturating_mul(TOTAL);
    is("the balances after four sales", buyer.balances().await?, (BALANCE - paid, 0))
}
