//! What the closing of a reference does.

use std::time::Duration;

use purchase::{Event, Fence, Handling, PurchaseId};

use super::buyer::{Buyer, JUST_ARRIVED, vended};
use super::{Bench, is};
use crate::{Caller, FinalAnswer, Found, Key, ReserveError, ReserveRefusal, Unacknowledged};

type Examined = Result<(), String>;

async fn find(bench: &dyn Bench, key: &Key) -> Result<Option<PurchaseId>, String> {
    number(bench.store().find(key).await)
}

async fn close(
    bench: &dyn Bench,
    key: &Key,
    known: PurchaseId,
    answer: FinalAnswer,
) -> Result<Option<PurchaseId>, String> {
    number(bench.store().close(key, known, answer).await)
}

fn number(found: Result<Option<Found>, Unacknowledged>) -> Result<Option<PurchaseId>, String> {
    found.map(|found| found.map(|found| found.id)).map_err(|error| error.to_string())
}

/// Whether a request of this age buys under the reference. If it does, its purchase ends at once.
async fn buys(buyer: &Buyer<'_>, reference: &str, age: Duration) -> Result<bool, String> {
    let order = buyer.order("04000000001", reference).await?;
    match buyer.store().reserve(&order, Caller { age, ..JUST_ARRIVED }).await {
        Ok(_reserved) => {
            buyer.record(order.id, Event::NeverSent { fence: Fence::FIRST }).await?;
            Ok(true)
        }
        Err(ReserveError::Refused(ReserveRefusal::ReferenceRests)) => Ok(false),
        Err(error) => Err(error.to_string()),
    }
}

pub(super) async fn not_found_stays_true(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let (rest, moment) = (bench.timing().reference_rest, Duration::from_secs(2));
    let key = buyer.order("04000000001", "asked").await?.key();
    is("the answer", find(bench, &key).await?, None)?;
    is("a purchase during the rest", buys(&buyer, "asked", Duration::ZERO).await?, false)?;
    is("a purchase under another reference", buys(&buyer, "not asked", Duration::ZERO).await?, true)?;
    bench.passes(rest + moment).await;
    is("what arrived during the rest", buys(&buyer, "asked", 2 * moment).await?, false)?;
    is("what arrived after the rest", buys(&buyer, "asked", Duration::ZERO).await?, true)
}

pub(super) async fn bought_stays_true(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let moment = Duration::from_secs(2);
    let order = buyer.order("04000000001", "order").await?;
    buyer.reserve(&order).await.map_err(|error| error.to_string())?;
    buyer.record(order.id, vended(format!("T{}", order.id.0))?).await?;
    bench.passes(2 * moment).await;
    is("the closing", close(bench, &order.key(), order.id, FinalAnswer::Bought).await?, None)?;
    is("what arrived before the answer", buys(&buyer, "order", moment).await?, false)?;
    bench.passes(moment).await;
    is("what arrives after the answer", buys(&buyer, "order", Duration::ZERO).await?, true)
}

pub(super) async fn newest_is_found(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let [first, second] = [buyer.order("04000000001", "order"), buyer.order("04000000001", "order")];
    // The later number is reserved first: the order of the reserves counts.
    let (second, first) = (first.await?, second.await?);
    for order in [&first, &second] {
        buyer.reserve(order).await.map_err(|error| error.to_string())?;
        buyer.record(order.id, Event::NeverSent { fence: Fence::FIRST }).await?;
    }
    is("the newest", find(bench, &first.key()).await?, Some(second.id))?;
    let closed = close(bench, &first.key(), first.id, FinalAnswer::NotBought).await?;
    is("the closing about the older", closed, Some(second.id))?;
    is("a purchase after it", buys(&buyer, "order", Duration::ZERO).await?, true)?;
    let newest = find(bench, &first.key()).await?.ok_or("nothing is found")?;
    let closed = close(bench, &first.key(), newest, FinalAnswer::NotBought).await?;
    is("the closing about the newest", closed, None)?;
    is("a purchase after that", buys(&buyer, "order", Duration::ZERO).await?, false)
}

pub(super) async fn rest_is_not_shortened(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.order("04000000001", "order").await?;
    buyer.reserve(&order).await.map_err(|error| error.to_string())?;
    buyer.record(order.id, Event::NeverSent { fence: Fence::FIRST }).await?;
    for answer in [FinalAnswer::NotBought, FinalAnswer::Bought] {
        is("the closing", close(bench, &order.key(), order.id, answer).await?, None)?;
    }
    bench.passes(Duration::from_secs(2)).await;
    is("a purchase during the rest", buys(&buyer, "order", Duration::ZERO).await?, false)
}
