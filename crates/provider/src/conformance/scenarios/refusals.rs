//! The scenarios of refusals and of repeated references.

use vend::{Doubt, Enquiry, Refusal, RefusalReason, VendOrder, VendOutcome};

use super::{broken, vended};
use crate::conformance::examination::{End, Examination, Verdict};
use crate::conformance::{Mishap, Operation};

pub(super) async fn told(e: &mut Examination<'_>) -> Verdict {
    e.arrange(Operation::Vend, Mishap::Refused).await?;
    let order = e.fresh_order();
    match e.vend(&order).await? {
        VendOutcome::Refused(refusal) if refusal.reason != RefusalReason::NeverSent => Ok(()),
        other @ (VendOutcome::Refused(_) | VendOutcome::Vended(_) | VendOutcome::Unknown(_)) => {
            broken(format!("the vend got {other:?}"))
        }
    }
}

pub(super) async fn remembered(e: &mut Examination<'_>) -> Verdict {
    let (order, refusal) = refused(e).await?;
    match e.enquire(&order).await? {
        Enquiry::Refused(remembered) if remembered.reason == refusal.reason => Ok(()),
        other @ (Enquiry::Refused(_)
        | Enquiry::Vended(_)
        | Enquiry::NoRecord
        | Enquiry::StillOpen
        | Enquiry::Unanswered(_)) => broken(format!("the enquiry about {refusal:?} got {other:?}")),
    }
}

/// An order that the provider has refused and remembers.
pub(super) async fn refused(e: &mut Examination<'_>) -> Result<(VendOrder, Refusal), End> {
    if !e.world.capabilities().remembers_refusals {
        return Err(End::Untested);
    }
    e.arrange(Operation::Vend, Mishap::Refused).await?;
    let order = e.fresh_order();
    match e.vend(&order).await? {
        VendOutcome::Refused(refusal) => Ok((order, refusal)),
        VendOutcome::Vended(_) | VendOutcome::Unknown(_) => Err(End::Untested),
    }
}

pub(super) async fn repeated(e: &mut Examination<'_>) -> Verdict {
    if !e.world.capabilities().repeat_is_safe {
        return Err(End::Untested);
    }
    let order = e.fresh_order();
    let first = vended(e.vend(&order).await?)?;
    e.note("the same order is sent again");
    let again = e.vend(&order).await?;
    let made = e.made(&order).await.len();
    if made != 1 {
        return broken(format!("it was vended {made} times"));
    }
    match again {
        VendOutcome::Vended(again) if again.provider_transaction == first.provider_transaction => Ok(()),
        VendOutcome::Unknown(unclear) if unclear.doubt == Doubt::RepeatedReference => Ok(()),
        other @ (VendOutcome::Vended(_) | VendOutcome::Refused(_) | VendOutcome::Unknown(_)) => {
            broken(format!("the repeated vend got {other:?}"))
        }
    }
}
