//! Decides the reserves of a group in the order of arrival, from inputs read under the locks of the wallets.

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};
use ledger::{AccountId, LedgerError};
use purchase::{ClientId, IdempotencyKey, Lifecycle, OrganisationId, PurchaseId, Timing};
use vend::{Product, SubscriberIdentifier};

use super::{
    inputs::{PauseNow, ReserveInputs},
    locked_purchase::LockedPurchase,
    wallets::{ApplyError, LockedWallet, Wallets},
};
use crate::{
    idempotency::LastUse,
    purchases::{Reservation, ReserveRefusal, Reserved},
};

/// A reservation that is to be written.
pub(super) struct Accepted<'a> {
    pub(super) reservation: &'a Reservation,
    pub(super) commission_account: Option<AccountId>,
    /// The number of this use of its idempotency key.
    pub(super) use_of_key: Option<i32>,
    pub(super) reserved: Reserved,
    /// When the worker looks at it.
    pub(super) due_at: Option<DateTime<Utc>>,
}

/// The decided reserves of a group.
pub(super) struct Reserves<'a> {
    pub(super) accepted: Vec<Accepted<'a>>,
    /// The subscribers that have an open purchase once `accepted` is written: at most one is open for each.
    busy: HashSet<(OrganisationId, Product, &'a SubscriberIdentifier)>,
    /// The idempotency keys that the purchases in `accepted` hold.
    taken: HashSet<(ClientId, &'a IdempotencyKey)>,
    timing: &'a Timing,
}

impl<'a> Reserves<'a> {
    pub(super) fn new(timing: &'a Timing) -> Self {
        Self { accepted: Vec::new(), busy: HashSet::new(), taken: HashSet::new(), timing }
    }

    /// Decides one reservation. The records of its group, in `locked`, and the reservations decided before it count.
    ///
    /// The refusals have an order:
    ///
    /// 1. The key. The purchase that holds it answers for both requests, so no other refusal may be answered first.
    /// 2. The request: its caller is gone, or it is too old. The age comes before the closings of step 4, because these
    ///    are deleted in time: a closed reference after a day (`housekeeping.rs`), a closed key after an hour
    ///    (`sql/close_key.sql` and `housekeeping.rs`). All closings that could stop a request below the age limit are
    ///    still stored.
    /// 3. The caller, the offer and the wallet: see [`may_debit`].
    /// 4. What other purchases and answers forbid: an open purchase for the subscriber, a reference that rests, a
    ///    closed key. Then a commission without an account for it.
    /// 5. The hold. It is the only step that changes the wallet in memory, so no later refusal has to undo it.
    pub(super) fn decide(
        &mut self,
        reservation: &'a Reservation,
        inputs: &ReserveInputs,
        locked: &BTreeMap<PurchaseId, LockedPurchase>,
        wallets: &mut Wallets,
    ) -> Result<Reserved, ReserveRefusal> {
        let key = reservation.keyed.as_ref().map(|keyed| (reservation.authority.client, &keyed.key));
        if key_is_held(inputs, locked) || key.is_some_and(|key| self.taken.contains(&key)) {
            return Err(ReserveRefusal::KeyTaken);
        }
        if inputs.request.is_abandoned {
            return Err(ReserveRefusal::Abandoned);
        }
        if inputs.request.age > self.timing.intake {
            return Err(ReserveRefusal::TooLate);
        }
        let wallet = may_debit(reservation, inputs, wallets)?;
        let authority = &reservation.authority;
        let subscriber =
            (authority.organisation, reservation.request.product, &reservation.request.subscriber);
        let is_open = |id| locked.get(&id).is_none_or(|purchase| purchase.lifecycle.state.name().is_open());
        let open = inputs.open_purchase.filter(|id| is_open(*id));
        if open.is_some() || self.busy.contains(&subscriber) {
            return Err(ReserveRefusal::Pending { open });
        }
        if let Some(until) = inputs.reference_rests_until {
            let wait = (until - inputs.at).to_std().unwrap_or_default();
            return Err(ReserveRefusal::ReferenceRests { wait });
        }
        if inputs.key_is_closed {
            return Err(ReserveRefusal::KeyClosed);
        }
        let commission_account = inputs.caller.commission_account;
        if commission_account.is_none() && !reservation.price.commission.is_zero() {
            return Err(ReserveRefusal::NoCommissionAccount);
        }
        place_hold(reservation, wallets)?;
        self.busy.insert(subscriber);
        self.taken.extend(key);
        let use_of_key = key.map(|_| inputs.key.last_use.as_ref().map_or(1, LastUse::next_number));
        let lifecycle = Lifecycle::reserved(wallet.handling, inputs.at, self.timing);
        let due_at = lifecycle.lease_until;
        let reserved = Reserved { lifecycle, at: inputs.at, is_new: true };
        self.accepted.push(Accepted {
            reservation,
            commission_account,
            use_of_key,
            reserved: reserved.clone(),
            due_at,
        });
        Ok(reserved)
    }
}

/// Whether the last purchase under the reservation's key still holds the key, after the records of the group.
fn key_is_held(inputs: &ReserveInputs, locked: &BTreeMap<PurchaseId, LockedPurchase>) -> bool {
    let Some(last) = &inputs.key.last_use else { return false };
    match locked.get(&last.holder.purchase) {
        Some(left) => last.holds_in(left.lifecycle.state.name(), left.failure.as_ref(), inputs.at),
        None => last.holds(inputs.at),
    }
}

/// Whether this caller may debit this wallet at all.
fn may_debit(
    reservation: &Reservation,
    inputs: &ReserveInputs,
    wallets: &Wallets,
) -> Result<LockedWallet, ReserveRefusal> {
    if !inputs.caller.organisation_is_active {
        return Err(ReserveRefusal::Suspended);
    }
    if !inputs.caller.authority_is_live {
        return Err(ReserveRefusal::Revoked);
    }
    if !inputs.is_offered {
        return Err(ReserveRefusal::NotOffered);
    }
    if inputs.caller.is_locked_to_allow_list && !inputs.is_on_allow_list {
        return Err(ReserveRefusal::SubscriberNotAllowed);
    }
    if let Some(PauseNow { until }) = inputs.pause {
        return Err(ReserveRefusal::Paused { until });
    }
    let owner = reservation.authority.organisation;
    let wallet = wallets
        .get(reservation.request.debited_account)
        .filter(|wallet| wallet.organisation == owner)
        .ok_or(ReserveRefusal::UnknownAccount)?;
    if !wallet.is_active || !wallet.category.can_be_debited() {
        return Err(ReserveRefusal::NotDebitable);
    }
    if wallet.wallet.currency() != reservation.price.total.currency() {
        return Err(ReserveRefusal::OtherCurrency(wallet.wallet.currency()));
    }
    Ok(*wallet)
}

/// Holds the price in memory, so that the next reservations of the group see what is left. The database really holds it
/// when the purchase is inserted: trigger `purchases_hold_their_total`, function `hold_for_purchases`
/// (`migrations/2026-11-24-000040_feed/up.sql`).
fn place_hold(reservation: &Reservation, wallets: &mut Wallets) -> Result<(), ReserveRefusal> {
    let total = reservation.price.total;
    let placed = wallets.apply(reservation.request.debited_account, |wallet| wallet.place_hold(total));
    placed.map_err(|error| match error {
        ApplyError::Ledger(LedgerError::Insufficient { gap }) => ReserveRefusal::Insufficient { gap },
        ApplyError::Ledger(
            LedgerError::NotHeld
            | LedgerError::NotPositive(_)
            | LedgerError::SameAccount
            | LedgerError::NoPostings
            | LedgerError::Contradiction
            | LedgerError::Money(_),
        ) => ReserveRefusal::NotDebitable,
        ApplyError::NotLocked(_) => ReserveRefusal::UnknownAccount,
    })
}
