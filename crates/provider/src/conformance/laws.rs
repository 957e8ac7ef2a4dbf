//! The laws themselves, each a short scene.

use vend::{
    CallId, Doubt, Enquiry, ProviderReference, RefusalReason, Sale, Unanswered, Unclear, Vend, VendOrder,
    VendOutcome,
};

use crate::Gate;
use crate::conformance::{Mishap, World};

/// What came of a law that was not broken.
pub(super) enum Finding {
    Kept,
    Untested,
}

/// `Err` tells what was seen instead.
type Verdict = Result<Finding, String>;

pub(super) async fn all(world: &dyn World) -> Vec<(&'static str, Verdict)> {
    vec![
        ("a vend is answered with what was asked for, and an enquiry finds it", vends(world).await),
        ("a check and a quote vend nothing", questions_vend_nothing(world).await),
        ("a trial vends nothing", trial_vends_nothing(world).await),
        ("a refused trial is a refusal", refused_trial(world).await),
        ("a closed gate sends nothing and proves it", closed_gate(world).await),
        ("what cannot be reached was never sent", nowhere(world).await),
        ("a lost request is doubt, and an enquiry finds no record", lost_request(world).await),
        (
            "an enquiry about what never was finds no record and vends nothing",
            enquiry_of_nothing(world).await,
        ),
        ("a lost reply is doubt, and an enquiry finds the vend", doubt(world, Mishap::ReplyLost).await),
        ("a failure after vending is doubt", doubt(world, Mishap::FailsAfterVending).await),
        ("garbage is doubt", doubt(world, Mishap::ReplyGarbled).await),
        ("an answer to another reference is doubt", doubt(world, Mishap::AnswersAnotherReference).await),
        ("an answer for another subscriber is doubt", doubt(world, Mishap::AnswersAnotherSubscriber).await),
        ("an answer about another amount is doubt", doubt(world, Mishap::AnswersAnotherAmount).await),
        ("a success without the token it owes is doubt", doubt(world, Mishap::TokenLeftOut).await),
        ("an answer that proves nothing is kept as it came", unclear_answer(world).await),
        ("a refusal under our reference is a refusal", refused(world).await),
        ("a refusal under another reference is doubt", refused_for_another(world).await),
        ("a refusal is remembered where that is declared", remembered_refusal(world).await),
        ("a repeated reference vends once where that is declared", repeated(world).await),
    ]
}

async fn vends(world: &dyn World) -> Verdict {
    let order = fresh_order(world);
    let vend = vended(world.provider().vend(&order, &open()).await)?;
    owes_nothing(&vend, &order.sale)?;
    expect_vends(world, &order, 1).await?;
    let found = found(world.provider().enquire(world.fresh_call(), &order).await)?;
    same(&vend, &found)?;
    expect_vends(world, &order, 1).await
}

async fn questions_vend_nothing(world: &dyn World) -> Verdict {
    let before = world.vends().await.len();
    let sale = world.fresh_sale();
    let checked = world.provider().check(world.fresh_call(), sale.product, &sale.subscriber).await;
    checked.map_err(|unanswered| format!("the check got {unanswered:?}"))?;
    let quoted = world.provider().quote(world.fresh_call(), &sale).await;
    let quotation = quoted.map_err(|unanswered| format!("the quote got {unanswered:?}"))?;
    if let Some(breakdown) = quotation.breakdown {
        adds_up(breakdown.parts().map(money::Money::minor).iter().sum(), &sale)?;
    }
    expect_vends_in_all(world, before).await
}

/// A provider without trials refuses them as one that is not set up for them, and must vend as little.
async fn trial_vends_nothing(world: &dyn World) -> Verdict {
    let before = world.vends().await.len();
    let sale = world.fresh_sale();
    match world.provider().trial(world.fresh_call(), &sale).await {
        Ok(quotation) => {
            if let Some(breakdown) = quotation.breakdown {
                adds_up(breakdown.parts().map(money::Money::minor).iter().sum(), &sale)?;
            }
        }
        Err(Unanswered::Refused(refusal)) if refusal.reason == RefusalReason::Misconfigured => {}
        Err(other @ (Unanswered::Refused(_) | Unanswered::Unreachable | Unanswered::NoAnswer(_))) => {
            return Err(format!("the trial got {other:?}"));
        }
    }
    expect_vends_in_all(world, before).await
}

async fn refused_trial(world: &dyn World) -> Verdict {
    if !world.arrange(Mishap::TrialRefused).await {
        return Ok(Finding::Untested);
    }
    let before = world.vends().await.len();
    match world.provider().trial(world.fresh_call(), &world.fresh_sale()).await {
        Err(Unanswered::Refused(_)) => expect_vends_in_all(world, before).await,
        other @ (Ok(_) | Err(Unanswered::Unreachable | Unanswered::NoAnswer(_))) => {
            Err(format!("the refused trial got {other:?}"))
        }
    }
}

async fn closed_gate(world: &dyn World) -> Verdict {
    let order = fresh_order(world);
    let outcome = world.provider().vend(&order, &Gate::while_true(|| false)).await;
    expect_never_sent(&outcome)?;
    expect_vends(world, &order, 0).await
}

async fn nowhere(world: &dyn World) -> Verdict {
    let provider = world.provider_of_nowhere();
    expect_never_sent(&provider.vend(&fresh_order(world), &open()).await)
}

async fn lost_request(world: &dyn World) -> Verdict {
    if !world.arrange(Mishap::RequestLost).await {
        return Ok(Finding::Untested);
    }
    let order = fresh_order(world);
    unknown(world.provider().vend(&order, &open()).await)?;
    expect_no_record(world, &order).await?;
    expect_vends(world, &order, 0).await
}

async fn enquiry_of_nothing(world: &dyn World) -> Verdict {
    let before = world.vends().await.len();
    let order = fresh_order(world);
    expect_no_record(world, &order).await?;
    expect_no_record(world, &order).await?;
    expect_vends_in_all(world, before).await
}

async fn doubt(world: &dyn World, mishap: Mishap) -> Verdict {
    if !world.arrange(mishap).await {
        return Ok(Finding::Untested);
    }
    let order = fresh_order(world);
    unknown(world.provider().vend(&order, &open()).await)?;
    expect_vends(world, &order, 1).await?;
    let vend = found(world.provider().enquire(world.fresh_call(), &order).await)?;
    owes_nothing(&vend, &order.sale)?;
    expect_vends(world, &order, 1).await
}

async fn unclear_answer(world: &dyn World) -> Verdict {
    if !world.arrange(Mishap::AnswersAnotherReference).await {
        return Ok(Finding::Untested);
    }
    let unclear = unknown(world.provider().vend(&fresh_order(world), &open()).await)?;
    match unclear.raw_reply {
        Some(reply) if !reply.0.is_empty() => Ok(Finding::Kept),
        Some(_) | None => Err(format!("nothing was kept with {:?}", unclear.doubt)),
    }
}

async fn refused(world: &dyn World) -> Verdict {
    if !world.arrange(Mishap::Refused).await {
        return Ok(Finding::Untested);
    }
    let order = fresh_order(world);
    match world.provider().vend(&order, &open()).await {
        VendOutcome::Refused(refusal) if refusal.reason != RefusalReason::NeverSent => {}
        other @ (VendOutcome::Refused(_) | VendOutcome::Vended(_) | VendOutcome::Unknown(_)) => {
            return Err(format!("the refused vend got {other:?}"));
        }
    }
    expect_vends(world, &order, 0).await
}

async fn refused_for_another(world: &dyn World) -> Verdict {
    if !world.arrange(Mishap::RefusedForAnother).await {
        return Ok(Finding::Untested);
    }
    unknown(world.provider().vend(&fresh_order(world), &open()).await)?;
    Ok(Finding::Kept)
}

async fn remembered_refusal(world: &dyn World) -> Verdict {
    if !world.capabilities().remembers_refusals || !world.arrange(Mishap::Refused).await {
        return Ok(Finding::Untested);
    }
    let order = fresh_order(world);
    let first = world.provider().vend(&order, &open()).await;
    let VendOutcome::Refused(refusal) = first else {
        return Err(format!("the refused vend got {first:?}"));
    };
    match world.provider().enquire(world.fresh_call(), &order).await {
        Enquiry::Refused(remembered) if remembered.reason == refusal.reason => Ok(Finding::Kept),
        other @ (Enquiry::Refused(_)
        | Enquiry::Vended(_)
        | Enquiry::NoRecord
        | Enquiry::StillOpen
        | Enquiry::Unanswered(_)) => Err(format!("the enquiry about {refusal:?} got {other:?}")),
    }
}

async fn repeated(world: &dyn World) -> Verdict {
    if !world.capabilities().repeat_is_safe {
        return Ok(Finding::Untested);
    }
    let order = fresh_order(world);
    let first = vended(world.provider().vend(&order, &open()).await)?;
    match world.provider().vend(&order, &open()).await {
        VendOutcome::Vended(again) => same(&first, &again)?,
        VendOutcome::Unknown(unclear) if unclear.doubt == Doubt::RepeatedReference => {}
        other @ (VendOutcome::Refused(_) | VendOutcome::Unknown(_)) => {
            return Err(format!("the repeated vend got {other:?}"));
        }
    }
    expect_vends(world, &order, 1).await
}

fn fresh_order(world: &dyn World) -> VendOrder {
    let call: CallId = world.fresh_call();
    VendOrder { reference: ProviderReference::new(call), sale: world.fresh_sale() }
}

fn open() -> Gate {
    Gate::while_true(|| true)
}

fn vended(outcome: VendOutcome) -> Result<Vend, String> {
    match outcome {
        VendOutcome::Vended(vend) => Ok(*vend),
        other @ (VendOutcome::Refused(_) | VendOutcome::Unknown(_)) => Err(format!("the vend got {other:?}")),
    }
}

fn unknown(outcome: VendOutcome) -> Result<Unclear, String> {
    match outcome {
        VendOutcome::Unknown(unclear) => Ok(unclear),
        other @ (VendOutcome::Refused(_) | VendOutcome::Vended(_)) => Err(format!("the vend got {other:?}")),
    }
}

fn found(enquiry: Enquiry) -> Result<Vend, String> {
    match enquiry {
        Enquiry::Vended(vend) => Ok(*vend),
        other @ (Enquiry::Refused(_) | Enquiry::NoRecord | Enquiry::StillOpen | Enquiry::Unanswered(_)) => {
            Err(format!("the enquiry got {other:?}"))
        }
    }
}

/// The raw replies differ: one is the answer to the vend, the other to the enquiry.
fn same(first: &Vend, second: &Vend) -> Result<(), String> {
    let facts = |vend: &Vend| (vend.tokens.clone(), vend.units.clone(), vend.provider_transaction.clone());
    if facts(first) == facts(second) && first.breakdown == second.breakdown {
        Ok(())
    } else {
        Err("the same vend was told in two ways".to_owned())
    }
}

fn owes_nothing(vend: &Vend, sale: &Sale) -> Result<(), String> {
    if sale.product.always_has_a_token() && vend.tokens.is_none() {
        return Err("a vend without its token".to_owned());
    }
    match vend.breakdown {
        Some(breakdown) => adds_up(breakdown.parts().map(money::Money::minor).iter().sum(), sale),
        None => Ok(()),
    }
}

fn adds_up(minor: i64, sale: &Sale) -> Result<(), String> {
    if minor == sale.amount.minor() {
        Ok(())
    } else {
        Err(format!("a split that makes {minor} minor units of {}", sale.amount))
    }
}

fn expect_never_sent(outcome: &VendOutcome) -> Verdict {
    match outcome {
        VendOutcome::Refused(refusal) if refusal.reason == RefusalReason::NeverSent => Ok(Finding::Kept),
        VendOutcome::Refused(_) | VendOutcome::Vended(_) | VendOutcome::Unknown(_) => {
            Err(format!("the vend that cannot leave got {outcome:?}"))
        }
    }
}

async fn expect_no_record(world: &dyn World, order: &VendOrder) -> Result<(), String> {
    match world.provider().enquire(world.fresh_call(), order).await {
        Enquiry::NoRecord => Ok(()),
        other @ (Enquiry::Vended(_) | Enquiry::Refused(_) | Enquiry::StillOpen | Enquiry::Unanswered(_)) => {
            Err(format!("the enquiry about nothing got {other:?}"))
        }
    }
}

async fn expect_vends(world: &dyn World, order: &VendOrder, expected: usize) -> Verdict {
    let reference = order.reference.to_string();
    let made = world.vends().await.into_iter().filter(|vended| *vended == reference).count();
    if made == expected { Ok(Finding::Kept) } else { Err(format!("{made} vends instead of {expected}")) }
}

async fn expect_vends_in_all(world: &dyn World, before: usize) -> Verdict {
    let after = world.vends().await.len();
    if after == before { Ok(Finding::Kept) } else { Err(format!("{before} vends before and {after} after")) }
}
