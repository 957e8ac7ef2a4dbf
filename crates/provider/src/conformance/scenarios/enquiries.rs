//! The scenarios of enquiries.

use vend::{Enquiry, VendOutcome};

use super::{broken, refusals, vended, vends_nothing_since};
use crate::conformance::examination::{End, Examination, Verdict};
use crate::conformance::{Mishap, Operation};

pub(super) async fn finds_the_vend(e: &mut Examination<'_>) -> Verdict {
    for mishap in [Mishap::ReplyLost, Mishap::ServerError, Mishap::ReplyEmpty] {
        e.forget_mishaps().await;
        e.arrange(Operation::Vend, mishap).await?;
        let order = e.fresh_order();
        e.vend(&order).await?;
        if e.made(&order).await.len() != 1 {
            return Err(End::Untested);
        }
        match e.enquire(&order).await? {
            Enquiry::Vended(_) => {}
            other @ (Enquiry::Refused(_)
            | Enquiry::NoRecord
            | Enquiry::StillOpen
            | Enquiry::Unanswered(_)) => {
                return broken(format!("the enquiry got {other:?}"));
            }
        }
    }
    Ok(())
}

pub(super) async fn finds_nothing(e: &mut Examination<'_>) -> Verdict {
    let order = e.fresh_order();
    match e.enquire(&order).await? {
        Enquiry::NoRecord => Ok(()),
        other @ (Enquiry::Vended(_) | Enquiry::Refused(_) | Enquiry::StillOpen | Enquiry::Unanswered(_)) => {
            broken(format!("the enquiry got {other:?}"))
        }
    }
}

pub(super) async fn vends_nothing(e: &mut Examination<'_>) -> Verdict {
    let (before, never_was) = (e.world.vends().await.len(), e.fresh_order());
    e.enquire(&never_was).await?;
    e.enquire(&never_was).await?;
    vends_nothing_since(e, before).await?;
    e.arrange(Operation::Vend, Mishap::RequestLost).await?;
    let lost = e.fresh_order();
    e.vend(&lost).await?;
    let before = e.world.vends().await.len();
    e.enquire(&lost).await?;
    vends_nothing_since(e, before).await
}

pub(super) async fn unreachable(e: &mut Examination<'_>) -> Verdict {
    let order = e.fresh_order();
    vended(e.vend(&order).await?)?;
    e.note("nothing listens where the enquiry is sent");
    let provider = e.world.provider_of_nowhere();
    let enquiry = e.enquire_by(provider.as_ref(), &order).await?;
    is_unanswered(enquiry)
}

/// None of these mishaps lets an enquiry report a result of an order that was vended.
pub(super) async fn finds_nothing_out(e: &mut Examination<'_>, mishaps: &[Mishap]) -> Verdict {
    let order = e.fresh_order();
    vended(e.vend(&order).await?)?;
    for mishap in mishaps {
        e.forget_mishaps().await;
        e.arrange(Operation::Enquiry, *mishap).await?;
        let enquiry = e.enquire(&order).await?;
        e.happened()?;
        is_unanswered(enquiry)?;
    }
    Ok(())
}

pub(super) async fn refusal_of_another(e: &mut Examination<'_>) -> Verdict {
    let (order, _refusal) = refusals::refused(e).await?;
    e.arrange(Operation::Enquiry, Mishap::AnswersAnotherReference).await?;
    let enquiry = e.enquire(&order).await?;
    is_unanswered(enquiry)
}

pub(super) async fn no_record_of_another(e: &mut Examination<'_>) -> Verdict {
    e.arrange(Operation::Enquiry, Mishap::NoRecordForAnother).await?;
    let order = e.fresh_order();
    let enquiry = e.enquire(&order).await?;
    is_unanswered(enquiry)
}

pub(super) async fn under_way(e: &mut Examination<'_>) -> Verdict {
    e.arrange(Operation::Vend, Mishap::StillUnderWay).await?;
    let order = e.fresh_order();
    match e.vend(&order).await? {
        VendOutcome::Unknown(_) => {}
        VendOutcome::Vended(_) | VendOutcome::Refused(_) => return Err(End::Untested),
    }
    match e.enquire(&order).await? {
        Enquiry::StillOpen | Enquiry::Unanswered(_) => Ok(()),
        other @ (Enquiry::Vended(_) | Enquiry::Refused(_) | Enquiry::NoRecord) => {
            broken(format!("the enquiry got {other:?}"))
        }
    }
}

fn is_unanswered(enquiry: Enquiry) -> Verdict {
    match enquiry {
        Enquiry::Unanswered(_) => Ok(()),
        other @ (Enquiry::Vended(_) | Enquiry::Refused(_) | Enquiry::NoRecord | Enquiry::StillOpen) => {
            broken(format!("the enquiry got {other:?}"))
        }
    }
}
