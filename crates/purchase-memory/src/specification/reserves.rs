//! What a reserve does.

use std::time::Duration;

use purchase::{Event, Fence, Handling, StateName};

use vend::Product;

use super::buyer::{BALANCE, Buyer, JUST_ARRIVED, TOTAL, gap};
use super::{Bench, is};
use crate::{Caller, ReserveError, ReserveRefusal, Reserved};

type Examined = Result<(), String>;

fn refusal(outcome: &Result<Reserved, ReserveError>) -> Option<ReserveRefusal> {
    match outcome {
        Err(ReserveError::Refused(refusal)) => Some(*refusal),
        Ok(_) | Err(_) => None,
    }
}

pub(super) async fn holds_the_total(bench: &dyn Bench) -> Examined {
    for handling in Handling::ALL {
        let buyer = Buyer::of(bench, handling).await;
        let order = buyer.order("04000000001", "order").await?;
        let reserved = buyer.reserve(&order).await.map_err(|error| error.to_string())?;
        let lifecycle = purchase::Lifecycle::reserved(handling, reserved.at, &bench.timing());
        is("the purchase", reserved.lifecycle, lifecycle)?;
        is("the balances", buyer.balances().await?, (BALANCE, TOTAL))?;
    }
    Ok(())
}

pub(super) async fn reserves_once(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.order("04000000001", "order").await?;
    let first = buyer.reserve(&order).await.map_err(|error| error.to_string())?;
    is("whether the first run made it", first.is_new, true)?;
    // A confirm sends the order if the answer says that the purchase is new. If two runs get this answer, there are two vends.
    let again = Ok(Reserved { is_new: false, ..first });
    is("the second run", buyer.reserve(&order).await, again.clone())?;
    is("the balances", buyer.balances().await?, (BALANCE, TOTAL))?;
    buyer.record(order.id, Event::NeverSent { fence: Fence::FIRST }).await?;
    is("the run after the end", buyer.reserve(&order).await, again)?;
    is("the balances after the end", buyer.balances().await?, (BALANCE, 0))
}

pub(super) async fn one_open_purchase(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let first = buyer.bought("04000000001").await?;
    let next = buyer.order("04000000001", "another order").await?;
    is("the second", refusal(&buyer.reserve(&next).await), Some(ReserveRefusal::Pending))?;
    buyer.bought("04000000002").await?;
    let mut water = buyer.order("04000000001", "water").await?;
    water.sale.product = Product::Water;
    is("one of another product", refusal(&buyer.reserve(&water).await), None)?;
    is("the balances", buyer.balances().await?, (BALANCE, 3 * TOTAL))?;
    buyer.record(first.id, Event::NeverSent { fence: Fence::FIRST }).await?;
    is("the second after the end of the first", refusal(&buyer.reserve(&next).await), None)
}

pub(super) async fn never_overdrawn(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    for subscriber in ["04000000001", "04000000002", "04000000003", "04000000004"] {
        buyer.bought(subscriber).await?;
    }
    let beyond = buyer.order("04000000005", "order").await?;
    let missing = bench.amount(5 * TOTAL - BALANCE);
    is("the gap", gap(&buyer.reserve(&beyond).await), Some(missing))?;
    is("the balances", buyer.balances().await?, (BALANCE, 4 * TOTAL))
}

pub(super) async fn own_account(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let other = Buyer::of(bench, Handling::SelfManaged).await;
    let mut order = buyer.order("04000000001", "order").await?;
    order.account = other.account;
    let refused = refusal(&buyer.reserve(&order).await);
    is("the purchase from another's account", refused, Some(ReserveRefusal::UnknownAccount))?;
    is("the balances", other.balances().await?, (BALANCE, 0))
}

pub(super) async fn too_late(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let too_old = Caller { age: bench.timing().intake + Duration::from_secs(1), ..JUST_ARRIVED };
    let gone = Caller { has_hung_up: true, ..JUST_ARRIVED };
    for (caller, expected) in [(too_old, ReserveRefusal::TooLate), (gone, ReserveRefusal::CallerGone)] {
        let order = buyer.order("04000000001", "order").await?;
        is("the reserve", refusal(&bench.store().reserve(&order, caller).await), Some(expected))?;
        let found = bench.store().get(order.id).await.map_err(|error| error.to_string())?;
        is("the purchase", found.map(|found| found.lifecycle.state.name()), None::<StateName>)?;
    }
    is("the balances", buyer.balances().await?, (BALANCE, 0))
}
