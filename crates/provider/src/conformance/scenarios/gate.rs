//! The scenarios of orders that must not be sent, and the proof that they were not.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use vend::{ProviderReference, RefusalReason, Sale, VendOrder, VendOutcome};

use super::broken;
use crate::Gate;
use crate::conformance::examination::{End, Examination, Verdict};

/// The maximum time until the wire notices an open connection.
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
        0 => broken("the order was sent all the same".to_owned()),
        _ => broken(format!("it was vended {vends} times")),
    }
}

/// At each check, the gate records whether a connection to the world is open. It waits a moment for one and blocks the
/// adapter meanwhile. An adapter that checks the gate before it connects has no connection then.
pub(super) async fn looked_at_last(e: &mut Examination<'_>) -> Verdict {
    let probe = e.world.wire().ok_or(End::Untested)?.probe();
    e.note("the gate is open, and records at each check whether a connection is open");
    let connected_at_last = Arc::new(Mutex::new(None));
    let record = Arc::clone(&connected_at_last);
    let gate = Gate::while_true(move || {
        let is_connected = probe.is_connected_within(SEEN_WITHIN);
        *record.lock().unwrap_or_else(PoisonError::into_inner) = Some(is_connected);
        true
    });
    let order = e.fresh_order();
    e.vend_behind(&order, &gate).await?;
    match *connected_at_last.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(true) => Ok(()),
        Some(false) => broken("the last check of the gate was before the connection was open".to_owned()),
        // An adapter that never checks the gate violates another requirement.
        None => Err(End::Untested),
    }
}

pub(super) async fn unreachable(e: &mut Examination<'_>) -> Verdict {
    e.note("nothing listens at the address of the adapter's provider");
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
