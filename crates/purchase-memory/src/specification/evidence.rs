//! What a store keeps and judges beside the money: tokens, fences, declared rules and times.

use std::time::Duration;

use chrono::{DateTime, Utc};
use purchase::{Event, Fence, Handling, Illegal, PurchaseId, RefusalSource, StateName, Why};
use vend::{Capabilities, Doubt, Refusal, RefusalReason};

use super::buyer::{BALANCE, Buyer, TOTAL, refused, vended};
use super::{Bench, is};
use crate::{Found, Recorded, Verdict};

type Examined = Result<(), String>;

const SECOND: Fence = Fence(2);
const THIRD: Fence = Fence(3);

fn why(recorded: &Recorded) -> Option<Why> {
    match recorded.verdict {
        Verdict::Illegal(Illegal { why, .. }) => Some(why),
        Verdict::Moved | Verdict::AlreadyThere => None,
    }
}

async fn found(bench: &dyn Bench, id: PurchaseId) -> Result<Found, String> {
    let found = bench.store().get(id).await.map_err(|error| error.to_string())?;
    found.ok_or_else(|| "the purchase has vanished".to_owned())
}

/// Takes over a purchase whose lease runs out. Returns when.
async fn claimed(buyer: &Buyer<'_>, id: PurchaseId) -> Result<DateTime<Utc>, String> {
    buyer.lease_runs_out().await;
    let claimed = buyer.record(id, Event::Claimed).await?;
    is("the claim", claimed.verdict, Verdict::Moved)?;
    Ok(claimed.at)
}

fn lost(fence: Fence) -> Event {
    Event::Lost { fence, why: Doubt::TimedOut.into() }
}

pub(super) async fn keeps_the_tokens(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    is("what an open purchase gave", found(bench, order.id).await?.success, None)?;
    let sold = vended(format!("T{}", order.id.0))?;
    let vend = sold.vend().ok_or("the event has no vend")?.clone();
    buyer.record(order.id, sold).await?;
    // Another vend is an incident, and nothing that was paid for.
    let Event::Vended { vend: mut second } = vended(format!("SECOND{}", order.id.0))? else {
        return Err("the event has no vend".to_owned());
    };
    second.tokens = None;
    buyer.record(order.id, Event::Vended { vend: second }).await?;
    let by_reference = bench.store().find(&order.key()).await.map_err(|error| error.to_string())?;
    for kept in [found(bench, order.id).await?, by_reference.ok_or("it is not found by its reference")?] {
        let kept = kept.success.ok_or("nothing is kept of the vend")?;
        let (tokens, expected) = (kept.tokens, vend.tokens.clone());
        // The tokens are not shown.
        is("whether the tokens are those of the vend, in their order", tokens == expected, true)?;
        is("the units", kept.units, vend.units.clone())?;
        is("the provider's transaction", kept.provider_transaction, vend.provider_transaction.clone())?;
    }
    Ok(())
}

/// Every event that needs a fence, under the one before the current one.
pub(super) async fn stale_fence(bench: &dyn Bench) -> Examined {
    let all = Capabilities {
        repeat_is_safe: true,
        remembers_refusals: true,
        not_found_counts: true,
        ..Capabilities::NONE
    };
    bench.declare(all).await;
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    let asked_at = claimed(&buyer, order.id).await?;
    let held = found(bench, order.id).await?.lifecycle;
    for stale in [
        lost(Fence::FIRST),
        Event::NoRecord { fence: Fence::FIRST, asked_at },
        Event::LeaseReleased { fence: Fence::FIRST, why: Doubt::TimedOut.into() },
        Event::SentAgain { fence: Fence::FIRST },
        Event::WindowClosed { fence: Fence::FIRST },
    ] {
        let kind = stale.kind().as_str();
        is(kind, why(&buyer.record(order.id, stale).await?), Some(Why::StaleFence))?;
        is("the purchase after it", &found(bench, order.id).await?.lifecycle, &held)?;
    }
    buyer.record(order.id, refused(SECOND, RefusalReason::Blocked)).await?;

    let buyer = Buyer::of(bench, Handling::Managed).await;
    let order = buyer.bought("04000000001").await?;
    buyer.record(order.id, refused(Fence::FIRST, RefusalReason::Busy)).await?;
    let [first_attempt, ..] = bench.timing().plan.attempts;
    bench.passes(first_attempt).await;
    claimed(&buyer, order.id).await?;
    let (_, reference) = bench.number().await;
    let stale = Event::AttemptStarted { fence: Fence::FIRST, reference };
    is("the attempt", why(&buyer.record(order.id, stale).await?), Some(Why::StaleFence))?;
    is("the reference", found(bench, order.id).await?.order.reference, order.provider_reference)
}

pub(super) async fn declared_rules(bench: &dyn Bench) -> Examined {
    let none = Capabilities { settles_within: Capabilities::SETTLES_WITHIN_MIN, ..Capabilities::NONE };
    let counts = Capabilities { not_found_counts: true, ..none };
    for (declared, state, held) in [(none, StateName::InDoubt, TOTAL), (counts, StateName::Failed, 0)] {
        bench.declare(declared).await;
        let buyer = Buyer::of(bench, Handling::SelfManaged).await;
        is("the state after two answers of no record", two_answers_of_no_record(&buyer).await?, state)?;
        is("the balances", buyer.balances().await?, (BALANCE, held))?;
    }
    repeats_and_refusals(bench, none).await
}

async fn two_answers_of_no_record(buyer: &Buyer<'_>) -> Result<StateName, String> {
    let (bench, timing) = (buyer.bench, buyer.bench.timing());
    let order = buyer.bought("04000000001").await?;
    buyer.record(order.id, lost(Fence::FIRST)).await?;
    bench.passes(timing.gate + Capabilities::SETTLES_WITHIN_MIN + Duration::from_secs(1)).await;
    for fence in [SECOND, THIRD] {
        bench.passes(timing.not_found_gap).await;
        let asked_at = claimed(buyer, order.id).await?;
        buyer.record(order.id, Event::NoRecord { fence, asked_at }).await?;
    }
    Ok(found(bench, order.id).await?.lifecycle.state.name())
}

/// A repeat is sent, and after it a refusal is told in an enquiry. Each is declared while the purchase is open.
async fn repeats_and_refusals(bench: &dyn Bench, none: Capabilities) -> Examined {
    bench.declare(none).await;
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.bought("04000000001").await?;
    buyer.record(order.id, lost(Fence::FIRST)).await?;
    let [first_repeat, ..] = bench.timing().plan.repeats;
    bench.passes(first_repeat).await;
    claimed(&buyer, order.id).await?;
    let repeat = Event::SentAgain { fence: SECOND };
    let undeclared = buyer.record(order.id, repeat.clone()).await?;
    is("the undeclared repeat", why(&undeclared), Some(Why::RepeatNotSafe))?;
    let repeats = Capabilities { repeat_is_safe: true, ..none };
    bench.declare(repeats).await;
    is("the rules of the purchase", found(bench, order.id).await?.rules.declared, repeats)?;
    is("the declared repeat", buyer.after(order.id, repeat).await?, (StateName::InFlight, THIRD))?;
    buyer.record(order.id, lost(THIRD)).await?;

    let refused = |fence| {
        let refusal = Refusal::because(RefusalReason::Blocked);
        Event::Refused { fence, refusal, source: RefusalSource::Enquiry }
    };
    claimed(&buyer, order.id).await?;
    let doubt = (StateName::InDoubt, THIRD.next());
    is("the refusal of one of two copies", buyer.after(order.id, refused(THIRD.next())).await?, doubt)?;
    is("the balances", buyer.balances().await?, (BALANCE, TOTAL))?;
    bench.declare(Capabilities { remembers_refusals: true, ..repeats }).await;
    claimed(&buyer, order.id).await?;
    let failed = (StateName::Failed, THIRD.next().next());
    is("the refusal of all copies", buyer.after(order.id, refused(THIRD.next().next())).await?, failed)?;
    is("the balances", buyer.balances().await?, (BALANCE, 0))
}

pub(super) async fn tells_the_time(bench: &dyn Bench) -> Examined {
    let buyer = Buyer::of(bench, Handling::SelfManaged).await;
    let order = buyer.order("04000000001", "order").await?;
    let began = bench.now().await;
    let reserved = buyer.reserve(&order).await.map_err(|error| error.to_string())?;
    is_now(bench, "the reserve", began, reserved.at).await?;
    buyer.lease_runs_out().await;
    let began = bench.now().await;
    let claim = buyer.record(order.id, Event::Claimed).await?;
    is_now(bench, "the record", began, claim.at).await?;
    bench.passes(Duration::from_secs(2)).await;
    let began = bench.now().await;
    is_now(bench, "the look by number", began, found(bench, order.id).await?.at).await?;
    let by_reference = bench.store().find(&order.key()).await.map_err(|error| error.to_string())?;
    let by_reference = by_reference.ok_or("it is not found by its reference")?;
    is_now(bench, "the look by reference", began, by_reference.at).await
}

/// That this time is not before `began`, and is not in the future.
async fn is_now(bench: &dyn Bench, what: &str, began: DateTime<Utc>, told: DateTime<Utc>) -> Examined {
    let now = bench.now().await;
    if (began..=now).contains(&told) {
        Ok(())
    } else {
        Err(format!("{what} tells {told}, between {began} and {now}"))
    }
}
