//! What a record does to a purchase and its hold.

use purchase::{Event, Fence, Handling, Illegal, StateName, Why};
use vend::{Doubt, ProviderReference, RefusalReason};

use super::buyer::{BALANCE, Buyer, TOTAL, refused, vended};
use super::{Bench, is};
use crate::{RecordError, Recorded, Verdict};

type Examined = Result<(), String>;

const SECOND: Fence = Fence(2);

fn why(recorded: &Recorded) -> Option<Why> {
    match recorded.verdict {
        Verdict::Illegal(Illegal { why, .. }) => Some(why),
        Verdict::Moved | Verdict::AlreadyThere => None,
    }
}

pub(super) async fn captures_by_proof(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    let sold = buyer.after(order.id, vended(format!("T{}", order.id.0))?).await?;
    is("the purchase", sold, (StateName::Successful, Fence::FIRST))?;
    is("the balances", buyer.balances().await?, (BALANCE - TOTAL, 0))?;
    // The confirm is replaced, and its answer comes all the same.
    let order = buyer.bought("04000000001").await?;
    buyer.lease_runs_out().await;
    buyer.record(order.id, Event::Claimed).await?;
    let sold = buyer.after(order.id, vended(format!("T{}", order.id.0))?).await?;
    is("the purchase that was claimed", sold, (StateName::Successful, SECOND))?;
    is("the balances", buyer.balances().await?, (BALANCE - 2 * TOTAL, 0))
}

pub(super) async fn releases_by_proof(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    let failed = buyer.after(order.id, refused(Fence::FIRST, RefusalReason::Blocked)).await?;
    is("the refused purchase", failed, (StateName::Failed, Fence::FIRST))?;
    is("the balances", buyer.balances().await?, (BALANCE, 0))?;
    for late in [refused(Fence::FIRST, RefusalReason::Blocked), Event::NeverSent { fence: Fence::FIRST }] {
        let order = buyer.bought("04000000001").await?;
        buyer.lease_runs_out().await;
        buyer.record(order.id, Event::Claimed).await?;
        let recorded = buyer.record(order.id, late).await?;
        is("the word of a holder that was replaced", why(&recorded), Some(Why::StaleFence))?;
        is("the balances", buyer.balances().await?, (BALANCE, TOTAL))?;
        let failed = buyer.after(order.id, refused(SECOND, RefusalReason::Blocked)).await?;
        is("the purchase", failed, (StateName::Failed, SECOND))?;
    }
    is("the balances", buyer.balances().await?, (BALANCE, 0))
}

pub(super) async fn records_once(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    let sold = vended(format!("T{}", order.id.0))?;
    is("the record", buyer.record(order.id, sold.clone()).await?.verdict, Verdict::Moved)?;
    is("the record again", buyer.record(order.id, sold).await?.verdict, Verdict::AlreadyThere)?;
    is("the balances", buyer.balances().await?, (BALANCE - TOTAL, 0))?;
    let order = buyer.bought("04000000001").await?;
    let lost = Event::Lost { fence: Fence::FIRST, why: Doubt::TimedOut.into() };
    let doubt = buyer.record(order.id, lost.clone()).await?;
    let again = buyer.record(order.id, lost).await?;
    is("the doubt again", again.verdict, Verdict::AlreadyThere)?;
    is("the purchase in doubt", again.lifecycle, doubt.lifecycle)?;
    is("the balances", buyer.balances().await?, (BALANCE - TOTAL, TOTAL))
}

pub(super) async fn late_vend(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    buyer.record(order.id, refused(Fence::FIRST, RefusalReason::Blocked)).await?;
    for transaction in ["LATE", "LATER"] {
        let sold = vended(format!("{transaction}{}", order.id.0))?;
        let late = buyer.record(order.id, sold.clone()).await?;
        is("the vend", (late.verdict, late.lifecycle.state.name()), (Verdict::Moved, StateName::Failed))?;
        is("the vend again", buyer.record(order.id, sold).await?.verdict, Verdict::AlreadyThere)?;
    }
    is("the balances", buyer.balances().await?, (BALANCE, 0))
}

pub(super) async fn claim_awaits_the_lease(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    let early = buyer.record(order.id, Event::Claimed).await?;
    is("the early claim", why(&early), Some(Why::Leased))?;
    buyer.lease_runs_out().await;
    let claimed = buyer.record(order.id, Event::Claimed).await?;
    let lifecycle = claimed.lifecycle;
    is("the claim", (lifecycle.state.name(), lifecycle.fence), (StateName::InDoubt, SECOND))?;
    is("the time of the claim", lifecycle.claimed_at, Some(claimed.at))?;
    let second = buyer.record(order.id, Event::Claimed).await?;
    is("a claim of another", why(&second), Some(Why::Leased))
}

pub(super) async fn lease_is_renewed(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    let renew = async |fence| bench.store().renew(order.id, fence).await.map_err(|error| error.to_string());
    bench.passes(bench.timing().lease * 3 / 4).await;
    is("the renewal", renew(Fence::FIRST).await?, true)?;
    is("the renewal under another fence", renew(SECOND).await?, false)?;
    bench.passes(bench.timing().lease * 3 / 4).await;
    let claim = buyer.record(order.id, Event::Claimed).await?;
    is("a claim within the renewed lease", why(&claim), Some(Why::Leased))?;
    buyer.lease_runs_out().await;
    buyer.record(order.id, Event::Claimed).await?;
    is("the renewal of a holder that was replaced", renew(Fence::FIRST).await?, false)?;
    buyer.record(order.id, vended(format!("T{}", order.id.0))?).await?;
    is("the renewal after the end", renew(SECOND).await?, false)
}

pub(super) async fn one_turn(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    buyer.record(order.id, Event::Lost { fence: Fence::FIRST, why: Doubt::TimedOut.into() }).await?;
    let turn =
        async |fence| bench.store().take_turn(order.id, fence).await.map_err(|error| error.to_string());
    is("a turn under another fence", turn(SECOND).await?, false)?;
    is("the first turn", turn(Fence::FIRST).await?, true)?;
    is("a turn at once", turn(Fence::FIRST).await?, false)?;
    bench.passes(bench.timing().enquiry_gap).await;
    is("the next turn", turn(Fence::FIRST).await?, true)?;
    buyer.record(order.id, vended(format!("T{}", order.id.0))?).await?;
    bench.passes(bench.timing().enquiry_gap).await;
    is("a turn after the end", turn(Fence::FIRST).await?, false)
}

pub(super) async fn new_reference(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::Managed).await;
    let order = buyer.bought("04000000001").await?;
    let busy = buyer.after(order.id, refused(Fence::FIRST, RefusalReason::Busy)).await?;
    is("the refused purchase", busy, (StateName::RetryDue, Fence::FIRST))?;
    is("the balances", buyer.balances().await?, (BALANCE, TOTAL))?;
    let [first_attempt, ..] = bench.timing().plan.attempts;
    bench.passes(first_attempt).await;
    buyer.record(order.id, Event::Claimed).await?;
    let (_, reference): (_, ProviderReference) = bench.number().await;
    let attempt = buyer.record(order.id, Event::AttemptStarted { fence: SECOND, reference }).await?;
    is("the attempt", attempt.lifecycle.attempt, 2)?;
    let found = bench.store().get(order.id).await.map_err(|error| error.to_string())?;
    is("the reference", found.map(|found| found.order.reference), Some(reference))?;
    buyer.record(order.id, vended(format!("T{}", order.id.0))?).await?;
    is("the balances", buyer.balances().await?, (BALANCE - TOTAL, 0))
}

pub(super) async fn unknown_purchase(bench: &dyn Bench) -> Examined {
    let (id, _) = bench.number().await;
    let recorded = bench.store().record(id, Event::Claimed).await;
    is("the record", recorded.err(), Some(RecordError::NoSuchPurchase))
}
