//! The scenarios of questions: they must move nothing, and only a usable answer counts.

use std::fmt::Debug;

use vend::{Quotation, RefusalReason, Sale, Unanswered};

use super::{broken, vends_nothing_since};
use crate::conformance::examination::{End, Examination, Verdict};
use crate::conformance::{Garbage, Mishap, Operation};

pub(super) async fn check_vends_nothing(e: &mut Examination<'_>) -> Verdict {
    let (before, sale) = (e.world.vends().await.len(), e.world.fresh_sale());
    let checked = e.check(&sale).await?;
    if let Err(unanswered) = checked {
        return broken(format!("the check got {unanswered:?}"));
    }
    vends_nothing_since(e, before).await
}

pub(super) async fn quote_vends_nothing(e: &mut Examination<'_>) -> Verdict {
    let (before, sale) = (e.world.vends().await.len(), e.world.fresh_sale());
    match e.quote(&sale).await? {
        Ok(quotation) => adds_up(&quotation, &sale)?,
        Err(unanswered) => return broken(format!("the quote got {unanswered:?}")),
    }
    vends_nothing_since(e, before).await
}

/// A provider without trials refuses with `Misconfigured`, and must not vend either.
pub(super) async fn trial_vends_nothing(e: &mut Examination<'_>) -> Verdict {
    let (before, sale) = (e.world.vends().await.len(), e.world.fresh_sale());
    match e.trial(&sale).await? {
        Ok(quotation) => adds_up(&quotation, &sale)?,
        Err(Unanswered::Refused(refusal)) if refusal.reason == RefusalReason::Misconfigured => {}
        Err(unanswered) => return broken(format!("the trial got {unanswered:?}")),
    }
    vends_nothing_since(e, before).await
}

/// A provider that does not tell the float must not vend either.
pub(super) async fn float_vends_nothing(e: &mut Examination<'_>) -> Verdict {
    let before = e.world.vends().await.len();
    if let Err(unanswered) = e.float().await? {
        return broken(format!("the question for the float got {unanswered:?}"));
    }
    vends_nothing_since(e, before).await
}

pub(super) async fn refused_trial(e: &mut Examination<'_>) -> Verdict {
    e.arrange(Operation::Trial, Mishap::Refused).await?;
    let sale = e.world.fresh_sale();
    match e.trial(&sale).await? {
        Err(Unanswered::Refused(_)) => Ok(()),
        other @ (Ok(_) | Err(Unanswered::Unreachable | Unanswered::NoAnswer(_))) => {
            broken(format!("the trial got {other:?}"))
        }
    }
}

pub(super) async fn check_of_another(e: &mut Examination<'_>) -> Verdict {
    e.arrange(Operation::Check, Mishap::AnswersAnotherSubscriber).await?;
    let sale = e.world.fresh_sale();
    let checked = e.check(&sale).await?;
    is_no_answer("check", checked)
}

pub(super) async fn quote_of_another(e: &mut Examination<'_>) -> Verdict {
    let others =
        [Mishap::AnswersAnotherSubscriber, Mishap::AnswersAnotherAmount, Mishap::AnswersAnotherCurrency];
    for mishap in others {
        e.forget_mishaps().await;
        e.arrange(Operation::Quote, mishap).await?;
        let sale = e.world.fresh_sale();
        let quoted = e.quote(&sale).await?;
        is_no_answer("quote", quoted)?;
    }
    Ok(())
}

pub(super) async fn unanswered(e: &mut Examination<'_>) -> Verdict {
    let garbage = Garbage::ALL.map(Mishap::ReplyGarbled);
    let lost =
        [Mishap::RequestLost, Mishap::ReplyHalved, Mishap::ReplyEmpty, Mishap::Redirected, Mishap::Silence];
    for mishap in garbage.into_iter().chain(lost) {
        let sale = e.world.fresh_sale();
        e.forget_mishaps().await;
        e.arrange(Operation::Check, mishap).await?;
        let checked = e.check(&sale).await?;
        e.happened()?;
        is_no_answer("check", checked)?;
        e.forget_mishaps().await;
        e.arrange(Operation::Quote, mishap).await?;
        let quoted = e.quote(&sale).await?;
        // The adapter may answer a quote from an earlier check without asking again.
        if e.happened().is_ok() {
            is_no_answer("quote", quoted)?;
        }
    }
    Ok(())
}

fn is_no_answer<T: Debug>(what: &str, answer: Result<T, Unanswered>) -> Verdict {
    match answer {
        Err(Unanswered::NoAnswer(_) | Unanswered::Unreachable) => Ok(()),
        other @ (Ok(_) | Err(Unanswered::Refused(_))) => broken(format!("the {what} got {other:?}")),
    }
}

fn adds_up(quotation: &Quotation, sale: &Sale) -> Result<(), End> {
    let Some(breakdown) = quotation.breakdown else { return Ok(()) };
    let parts: i64 = breakdown.parts().map(money::Money::minor).iter().sum();
    if parts == sale.amount.minor() {
        Ok(())
    } else {
        broken(format!("the split of {} makes {parts} minor units", sale.amount))
    }
}
