//! The scenarios of answers that prove nothing about a vend.

use vend::{Unclear, VendOutcome};

use super::broken;
use crate::conformance::examination::{End, Examination, Verdict};
use crate::conformance::{Mishap, Operation};

/// This mishap leaves the vend in doubt.
pub(super) async fn of(e: &mut Examination<'_>, mishap: Mishap) -> Verdict {
    e.arrange(Operation::Vend, mishap).await?;
    let order = e.fresh_order();
    let outcome = e.vend(&order).await?;
    e.happened()?;
    unclear(outcome).map(drop)
}

/// Each of these mishaps leaves the vend in doubt.
pub(super) async fn of_each(e: &mut Examination<'_>, mishaps: &[Mishap]) -> Verdict {
    for mishap in mishaps {
        e.forget_mishaps().await;
        of(e, *mishap).await?;
    }
    Ok(())
}

/// The adapter may trust the answer or not. The status proves nothing.
pub(super) async fn success_under_error(e: &mut Examination<'_>) -> Verdict {
    e.arrange(Operation::Vend, Mishap::FailingStatus).await?;
    let order = e.fresh_order();
    let outcome = e.vend(&order).await?;
    e.happened()?;
    match outcome {
        VendOutcome::Vended(_) | VendOutcome::Unknown(_) => Ok(()),
        VendOutcome::Refused(_) => broken(format!("the vend got {outcome:?}")),
    }
}

pub(super) async fn redirect(e: &mut Examination<'_>) -> Verdict {
    let wire = e.world.wire().ok_or(End::Untested)?;
    let before = wire.strayed();
    e.arrange(Operation::Vend, Mishap::Redirected).await?;
    let order = e.fresh_order();
    let outcome = e.vend(&order).await?;
    e.happened()?;
    if wire.strayed() > before {
        return broken(format!("it followed the redirect, and the vend got {outcome:?}"));
    }
    unclear(outcome).map(drop)
}

pub(super) async fn unclear_is_kept(e: &mut Examination<'_>) -> Verdict {
    e.arrange(Operation::Vend, Mishap::AnswersAnotherReference).await?;
    let order = e.fresh_order();
    let outcome = e.vend(&order).await?;
    // Another requirement tests whether this is doubt at all.
    let VendOutcome::Unknown(unclear) = outcome else { return Err(End::Untested) };
    match &unclear.raw_reply {
        Some(reply) if !reply.0.is_empty() => Ok(()),
        Some(_) | None => broken(format!("nothing was kept with {unclear:?}")),
    }
}

/// An answer that arrives byte by byte does not extend a call beyond its deadline. Other requirements test silence and
/// the results of the calls.
pub(super) async fn deadlines(e: &mut Examination<'_>) -> Verdict {
    e.arrange(Operation::Vend, Mishap::ReplyDrips).await?;
    let order = e.fresh_order();
    e.vend(&order).await?;
    e.forget_mishaps().await;
    e.arrange(Operation::Enquiry, Mishap::ReplyDrips).await?;
    e.enquire(&order).await?;
    e.forget_mishaps().await;
    e.arrange(Operation::Check, Mishap::ReplyDrips).await?;
    let _not_tested_here = e.check(&order.sale).await?;
    Ok(())
}

fn unclear(outcome: VendOutcome) -> Result<Unclear, End> {
    match outcome {
        VendOutcome::Unknown(unclear) => Ok(unclear),
        other @ (VendOutcome::Refused(_) | VendOutcome::Vended(_)) => {
            broken(format!("the vend got {other:?}"))
        }
    }
}
