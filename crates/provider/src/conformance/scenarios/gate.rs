//! What must not leave, and what is proven when it has not.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use vend::{ProviderReference, RefusalReason, Sale, VendOrder, VendOutcome};

use super::broken;
use crate::Gate;
use crate::conformance::examination::{End, Examination, Verdict};

/// How long a connection may take to be seen by the wire, once it stands.
const SEEN_WITHIN: Duration = Duration::from_millis(500);

pub(super) async fn closed(e: &mut Examination<'_>) -> Verdict {
    e.note("the gate is closed");
    let (order, before) = (e.fresh_order(), e.orders_received());
    let outcome = e.vend_behind(&order, &Gate::while_true(|| false)).await?;
    if !is_never_sent(&outcome) {
        return broken(format!("the vend got {outcome:?}"));
    }
    let vends = e.made(&order).await.len();
    match vends {
        0 if e.orders_received() == before => Ok(()),
        0 => broken("the order left all the same".to_owned()),
        _ => broken(format!("it was vended {vends} times")),
    }
}

/// The gate notes at each look whether a connection to the world stands. It waits for that a moment, and blocks the
/// adapter meanwhile: an adapter that looks before it connects has none.
pub(super) async fn looked_at_last(e: &mut Examination<'_>) -> Verdict {
    let probe = e.world.wire().ok_or(End::Untested)?.probe();
    e.note("the gate is open, and notes whether a connection stands when it is looked at");
    let stood_at_last = Arc::new(Mutex::new(None));
    let notes = Arc::clone(&stood_at_last);
    let gate = Gate::while_true(move || {
        let stands = probe.is_connected_within(SEEN_WITHIN);
        *notes.lock().unwrap_or_else(PoisonError::into_inner) = Some(stands);
        true
    });
    let order = e.fresh_order();
    e.vend_behind(&order, &gate).await?;
    match *stood_at_last.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(true) => Ok(()),
        Some(false) => broken("it looked for the last time before anything was connected".to_owned()),
        // An adapter that never looks breaks another law.
        None => Err(End::Untested),
    }
}

pub(super) async fn unreachable(e: &mut Examination<'_>) -> Verdict {
    e.note("nothing listens where the adapter is connected to");
    let (provider, order) = (e.world.provider_of_nowhere(), e.fresh_order());
    let outcome = e.vend_by(provider.as_ref(), &order).await?;
    if is_never_sent(&outcome) { Ok(()) } else { broken(format!("the vend got {outcome:?}")) }
}

pub(super) async fn another_product(e: &mut Examination<'_>) -> Verdict {
    let sale = e.world.sale_of_another_product().ok_or(End::Untested)?;
    e.note(&format!("an order for {}", sale.product));
    never_leaves(e, sale).await
}

pub(super) async fn another_currency(e: &mut Examination<'_>) -> Verdict {
    let sale = e.world.sale_in_another_currency().ok_or(End::Untested)?;
    e.note(&format!("an order for {}", sale.amount));
    never_leaves(e, sale).await
}

async fn never_leaves(e: &mut Examination<'_>, sale: Sale) -> Verdict {
    let order = VendOrder { reference: ProviderReference::new(e.world.fresh_call()), sale };
    let before = e.orders_received();
    let outcome = e.vend(&order).await?;
    if e.orders_received() != before || !e.made(&order).await.is_empty() {
        return broken(format!("it was sent, and the vend got {outcome:?}"));
    }
    match outcome {
        VendOutcome::Refused(_) => Ok(()),
        VendOutcome::Vended(_) | VendOutcome::Unknown(_) => broken(format!("the vend got {outcome:?}")),
    }
}

fn is_never_sent(outcome: &VendOutcome) -> bool {
    match outcome {
        VendOutcome::Refused(refusal) => refusal.reason == RefusalReason::NeverSent,
        VendOutcome::Vended(_) | VendOutcome::Unknown(_) => false,
    }
}
